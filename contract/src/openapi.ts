import type { TObject, TSchema } from 'typebox'
import { mediaTypesOf, type Operation } from './operation.ts'
import { isTagged, type NamedOperation, operations } from './operations.ts'
import { Problem, type ProblemCode, problems } from './problems.ts'
import { resources } from './resources.ts'
import { scopes } from './scopes.ts'
import { basePath, scopePrefix, version } from './version.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The OpenAPI 3.1 document: the contract in the words that other people's tools read. */
export const openapi = (): Json => {
  const schemas: Record<string, Json> = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const named of operations) {
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
    tags: Object.values(resources).map(({ name, description }) => ({ name, description })),
    paths,
    components: { schemas, headers, securitySchemes },
  }
}

const introduction = `Accounts, contacts, publications, subscriptions and invoices of a publisher, page by page.

Send \`Authorization: Bearer <ACCESS_TOKEN>\` with every call. To walk a list, follow the \`next\` link of the \`Link\` header until there is none: every record comes exactly once, whatever others write meanwhile. Errors are RFC 9457 problems; \`code\` is stable.`

const describe = ({ name, operation, resource }: NamedOperation, schemas: Record<string, Json>): Json => ({
  operationId: name,
  summary: operation.summary,
  tags: [resource.name],
  security: [
    { personalAccessToken: [operation.scope] },
    { serviceToken: [operation.scope] },
    { oauth2: [scopePrefix + operation.scope] },
  ],
  ...(parameters(operation).length > 0 && { parameters: parameters(operation) }),
  ...(operation.body && {
    requestBody: { required: true, content: bodyContent(operation, refer(operation.body, schemas)) },
  }),
  responses: {
    [operation.status]: {
      description: operation.status === 201 ? 'Created.' : 'Done.',
      headers: answerHeaders({ name, operation, resource }),
      content: { 'application/json': { schema: refer(operation.answer, schemas) } },
    },
    ...(operation.method === 'GET' && { 304: notModified }),
    ...Object.fromEntries(
      byStatus(problemsOf(operation)).map(([status, codes]) => [status, problemResponse(status, codes)]),
    ),
  },
})

const bodyContent = (operation: Operation, schema: Json): Json =>
  Object.fromEntries(mediaTypesOf(operation).map((type) => [type, { schema }]))

/** What a call of the operation can meet: derived from its shape, plus what it declares. */
const problemsOf = (operation: Operation): ProblemCode[] => [
  'malformed_request',
  ...(operation.query ? (['invalid_parameter', 'invalid_cursor'] as const) : (['invalid_parameter'] as const)),
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

const notModified: Json = {
  description: 'The caller has the current version.',
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
}

const problemResponse = (status: number, codes: ProblemCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${problems[code].title}. ${problems[code].cure}`).join('\n\n'),
  ...(status === 401 || status === 403
    ? { headers: { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } } }
    : {}),
  ...(status === 429 || status === 503
    ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }
    : {}),
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

const parameters = (operation: Operation): Json[] => [
  ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  })),
  ...Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = plain(schema) as { description: string } // every parameter of the contract is described
    return { name, in: 'query', description, schema: rest }
  }),
  ...(operation.method === 'GET' ? [header('If-None-Match', 'An `ETag`: answers 304 when it is still current.')] : []),
  ...(operation.method === 'POST'
    ? [
        header(
          'Idempotency-Key',
          'Up to 255 characters: a retry with the same key within 24 hours is answered as the first.',
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

const answerHeaders = (named: NamedOperation): Json => {
  const { operation } = named
  return {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
    ...(isTagged(named) && { ETag: { $ref: '#/components/headers/ETag' } }),
    ...(operation.status === 201 && isShownLater(operation) && { Location: { $ref: '#/components/headers/Location' } }),
    ...(operation.method === 'POST' && {
      'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' },
    }),
    ...(operation.query && { Link: { $ref: '#/components/headers/Link' } }),
  }
}

/** What is created at a path has an address when something below that path can be got. */
const isShownLater = ({ path }: Operation): boolean =>
  operations.some(({ operation }) => operation.method === 'GET' && operation.path.startsWith(`${path}/{`))

const headers: Json = {
  ETag: { description: 'Names this version of the answer.', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: '`true` when this is the kept answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string' },
  },
  Link: {
    description: 'RFC 8288: `first`, `prev`, `next` and `last`. The last page has no `next`.',
    schema: { type: 'string' },
  },
  Location: { description: 'Address of the new record.', schema: { type: 'string' } },
  RateLimit: {
    description: 'How many requests are left to the token and its tenant, and for how many seconds.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'How many requests the token and its tenant may send, in how many seconds.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'RFC 6750, with `resource_metadata` of RFC 9728.', schema: { type: 'string' } },
  'X-Request-Id': {
    description: 'Finds the request in the log; the caller may choose it.',
    schema: { type: 'string' },
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
const refer = (schema: TObject, schemas: Record<string, Json>): Json =>
  JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (!isTitled(value)) return value
    schemas[value.title] ??= value
    return { $ref: `#/components/schemas/${value.title}` }
  })
const isTitled = (value: unknown): value is { title: string; [key: string]: Json } =>
  typeof value === 'object' && value !== null && 'title' in value && typeof value.title === 'string'

const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema))
