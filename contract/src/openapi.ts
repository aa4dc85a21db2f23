import type { TSchema } from 'typebox'
import { changes, changesRelation } from './changes.ts'
import { exportJobs } from './exports.ts'
import { describeWebhooks } from './openapi-webhooks.ts'
import { idempotencyKeys, isPaged, mediaTypesOf, type Operation, type Resource, scopesOf } from './operation.ts'
import { isTagged, type NamedOperation, operations } from './operations.ts'
import { Problem, type ProblemCode, problems } from './problems.ts'
import { resources } from './resources.ts'
import type { Json } from './schema.ts'
import { scopes } from './scopes.ts'
import { basePath, scopePrefix, version } from './version.ts'

/** The OpenAPI 3.1 document: the contract in the words that other people's tools read. */
export const openapi = (): Json => {
  const schemas: Record<string, Json> = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const named of operations.toSorted((one, other) => rankOf(one.resource) - rankOf(other.resource))) {
    const { operation } = named
    paths[operation.path] ??= {}
    Object.assign(paths[operation.path] ?? {}, {
      [operation.method.toLowerCase()]: describe(named, schemas),
    })
  }
  refer(Problem, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Masthead',
      version,
      summary: 'The customer API of a publishing business',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath }],
    tags: Object.values<Resource>({ ...resources, changes, exportJobs })
      .sort((one, other) => rankOf(one) - rankOf(other))
      .map(({ name, description }) => ({ name, description })),
    paths,
    webhooks: describeWebhooks((schema) => refer(schema, schemas)),
    components: { schemas, headers, securitySchemes },
  }
}

/** Resources stand in the order of their scopes, which is that of the description; what concerns all of them comes last. */
const rankOf = (resource: Resource): number =>
  Math.min(
    ...Object.values(resource.operations).map(({ scope }) =>
      typeof scope === 'string' ? Object.keys(scopes).indexOf(scope) : Number.POSITIVE_INFINITY,
    ),
  )

const introduction = `Accounts, contacts, publications, subscriptions, invoices and tasks of a publisher, page by page.

Send \`Authorization: Bearer <ACCESS_TOKEN>\` with every call. To walk a list, follow the \`next\` link of the \`Link\` header until there is none: every record comes exactly once, whatever others write meanwhile. To keep a copy current, go on with \`/changes\`. Errors are RFC 9457 problems; \`code\` is stable.`

const describe = ({ name, operation, resource }: NamedOperation, schemas: Record<string, Json>): Json => ({
  operationId: name,
  summary: operation.summary,
  description: [operation.description, describeScopes(operation)].filter(Boolean).join('\n\n'),
  tags: [resource.name],
  security: scopesOf(operation).flatMap((scope) => [
    { personalAccessToken: [scope] },
    { serviceToken: [scope] },
    { oauth2: [scopePrefix + scope] },
  ]),
  ...(parameters(operation, resource).length > 0 && { parameters: parameters(operation, resource) }),
  ...(operation.body && {
    requestBody: { required: true, content: bodyContent(operation, refer(operation.body, schemas)) },
  }),
  responses: {
    [operation.status]: {
      description: operation.status === 201 ? 'Created.' : 'Done.',
      headers: responseHeaders({ name, operation, resource }),
      content: operation.download
        ? fileContent(operation.download)
        : {
            'application/json': { schema: refer(operation.response, schemas) },
            ...(operation.followed && {
              'text/event-stream': { schema: { type: 'string', description: eventStream } },
            }),
          },
    },
    ...(operation.download && partsOf({ name, operation, resource }, operation.download)),
    ...(operation.method === 'GET' && {
      304: {
        description: 'The caller has the current version.',
        headers: responseHeaders({ name, operation, resource }),
      },
    }),
    ...Object.fromEntries(
      byStatus(problemsOf(operation)).map(([status, codes]) => [status, problemResponse(operation, codes)]),
    ),
  },
})

/** OpenAPI 3.1: a body that is no JSON has no type. */
const fileContent = (types: readonly string[]): Json => Object.fromEntries(types.map((type) => [type, {}]))

/** RFC 9110 §14. */
const partsOf = (named: NamedOperation, types: readonly string[]): Record<string, Json> => ({
  206: {
    description: 'The part that `Range` asks for.',
    headers: { ...responseHeaders(named), ...referHeaders('Content-Range') },
    content: fileContent(types),
  },
  416: {
    description: 'The file ends before the part that `Range` asks for. There is no body.',
    headers: { ...responseHeaders(named), ...referHeaders('Content-Range') },
  },
})

const describeScopes = (operation: Operation): string => {
  const [first = '', ...others] = scopesOf(operation).map((scope) => `\`${scope}\``)
  return others.length === 0 ? `Needs the scope ${first}.` : `Needs one of the scopes ${[first, ...others].join(', ')}.`
}

const eventStream =
  'With `Accept: text/event-stream`: for each item an event `change` with the item as `data` and the cursor after it as `id`. A comment line comes every 15 seconds. The stream ends with the token; `Last-Event-ID` resumes.'

const bodyContent = (operation: Operation, schema: Json): Json =>
  Object.fromEntries(mediaTypesOf(operation).map((type) => [type, { schema }]))

/** What a call of the operation can meet: derived from its shape, plus what it declares. */
const problemsOf = (operation: Operation): ProblemCode[] => [
  'malformed_request',
  ...(isPaged(operation) || operation.followed
    ? (['invalid_parameter', 'invalid_cursor'] as const)
    : (['invalid_parameter'] as const)),
  ...(operation.body ? (['malformed_body'] as const) : []),
  ...(operation.method === 'GET' || operation.method === 'POST' || operation.conditional
    ? (['invalid_header'] as const)
    : []),
  'missing_token',
  'invalid_token',
  'insufficient_scope',
  'insufficient_role',
  ...(operation.path.includes('{') ? (['not_found'] as const) : []),
  ...(operation.problems ?? []),
  ...(operation.method === 'POST' ? (['request_in_progress'] as const) : []),
  ...(operation.conditional ? (['precondition_failed'] as const) : []),
  'body_too_large',
  'url_too_long',
  ...(operation.body ? (['unsupported_media_type'] as const) : []),
  ...(operation.method !== 'GET' ? (['invalid_body'] as const) : []),
  ...(operation.method === 'POST' ? (['idempotency_key_reused'] as const) : []),
  'too_many_requests',
  'headers_too_large',
  'internal_error',
  'unavailable',
]

const byStatus = (codes: ProblemCode[]): [number, ProblemCode[]][] =>
  [...Map.groupBy(codes, (code) => problems[code].status)].sort(([a], [b]) => a - b)

const problemResponse = (operation: Operation, codes: ProblemCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${problems[code].title}. ${problems[code].cure}`).join('\n\n'),
  headers: problemHeaders(operation, new Set(codes)),
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

const parameters = (operation: Operation, { singular, businessIdentifier }: Resource): Json[] => [
  ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description:
      operation.parameters?.[name] ??
      `The \`id\`${businessIdentifier ? ` or the \`${businessIdentifier}\`` : ''} of the ${singular}.`,
    schema: { type: 'string' },
  })),
  ...Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = plain(schema) as { description: string } // every parameter of the contract is described
    return { name, in: 'query', description, schema: rest }
  }),
  ...(operation.method === 'GET' ? [header('If-None-Match', 'An `ETag`: answers 304 when it is still current.')] : []),
  ...(operation.download
    ? [
        header('Range', 'RFC 9110: `bytes=<first>-` or `bytes=<first>-<last>`, to resume a download.'),
        header('If-Range', 'The `ETag` of the file: where it is another, the whole file comes.'),
      ]
    : []),
  ...(operation.followed
    ? [header('Last-Event-ID', 'Of a stream: the `id` of the last event; goes before `after`.')]
    : []),
  ...(operation.method === 'POST'
    ? [
        header(
          'Idempotency-Key',
          `Up to ${idempotencyKeys.longest} characters: a retry with the same key within ${idempotencyKeys.keptHours} hours is answered as the first.`,
        ),
      ]
    : []),
  ...(operation.conditional ? [header('If-Match', 'An `ETag`: answers 412 when it is no longer current.')] : []),
]
const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})

const responseHeaders = (named: NamedOperation): Record<string, Json> => {
  const { operation } = named
  return referHeaders(
    'X-Request-Id',
    ...limits,
    ...(isTagged(named) ? (['ETag'] as const) : []),
    ...(operation.status === 201 && isShownLater(operation) ? (['Location'] as const) : []),
    ...(operation.method === 'POST' ? (['Idempotency-Replayed'] as const) : []),
    ...(isPaged(operation) ? (['Link'] as const) : []),
    ...(operation.download ? (['Accept-Ranges', 'Content-Disposition'] as const) : []),
  )
}

/** What the codes of one status have in common. */
const problemHeaders = ({ method }: Operation, codes: ReadonlySet<ProblemCode>): Json => {
  const isOneOf = (...some: ProblemCode[]) => some.some((code) => codes.has(code))
  return referHeaders(
    'X-Request-Id',
    ...(isOneOf('invalid_token', 'headers_too_large') ? [] : limits),
    ...(isOneOf('invalid_token', 'insufficient_scope') ? (['WWW-Authenticate'] as const) : []),
    ...(isOneOf('precondition_failed') ? (['ETag'] as const) : []),
    ...(isOneOf('request_in_progress', 'too_many_requests', 'unavailable') ? (['Retry-After'] as const) : []),
    ...(method === 'POST' && isOneOf('not_found', 'precondition_failed', 'invalid_body')
      ? (['Idempotency-Replayed'] as const)
      : []),
  )
}

const referHeaders = (...names: (keyof typeof headers)[]): Record<string, Json> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const limits = ['RateLimit', 'RateLimit-Policy'] as const

/** What is created at a path has an address when something below that path can be got. */
const isShownLater = ({ path }: Operation): boolean =>
  operations.some(({ operation }) => operation.method === 'GET' && operation.path.startsWith(`${path}/{`))

/** Required: where a response is said to have it, it has it. */
const headers = {
  'Accept-Ranges': { description: '`bytes`: parts can be asked for.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'RFC 6266: the name to save the file under.', schema: { type: 'string' } },
  'Content-Range': {
    required: true,
    description: 'Which part of the file this is, and the size of the whole.',
    schema: { type: 'string' },
  },
  ETag: { required: true, description: 'Names this version of the answer.', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: '`true` when this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  Link: {
    required: true,
    description: `RFC 8288: \`first\`, \`prev\`, \`next\` and \`last\`. The last page has no \`next\`, but a link \`${changesRelation}\` to what has changed since the first page of the walk.`,
    schema: { type: 'string' },
  },
  Location: {
    required: true,
    description: 'Address of the new record.',
    schema: { type: 'string', format: 'uri' },
  },
  RateLimit: {
    description: 'How many requests are left to the token and its tenant, and for how many seconds.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'How many requests the token and its tenant may send, in how many seconds.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    required: true,
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    required: true,
    description: 'RFC 6750, with `resource_metadata` of RFC 9728.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    required: true,
    description: 'Finds the request in the log; the caller may choose it.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
}

const securitySchemes: Json = {
  personalAccessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token generated for a user of a tenant (`mh_pat_…`).',
  },
  serviceToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token generated for an integration of a tenant (`mh_svc_…`).',
  },
  oauth2: {
    type: 'oauth2',
    description: 'OAuth 2.0 authorization code with PKCE (S256), for applications that act for a user.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth2/authorize',
        tokenUrl: '/oauth2/token',
        scopes: Object.fromEntries(Object.entries(scopes).map(([scope, meaning]) => [scopePrefix + scope, meaning])),
      },
    },
  },
}

/** Schemas with a title become components; the others stay where they are. */
const refer = (schema: TSchema, schemas: Record<string, Json>): Json =>
  JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (!isTitled(value)) return value
    schemas[value.title] ??= value
    return { $ref: `#/components/schemas/${value.title}` }
  })
const isTitled = (value: unknown): value is { title: string; [key: string]: Json } =>
  typeof value === 'object' && value !== null && 'title' in value && typeof value.title === 'string'

const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema))
