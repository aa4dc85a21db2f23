import {
  basePath,
  changes,
  documentPath,
  exportJobs,
  largest,
  mediaTypesOf,
  type Operation,
  resources,
  scopesOf,
  titleOf,
} from '@masthead/contract'
import { type DescribedOperation, describedOperations, responseHeaders } from './described-operations.ts'
import { code, codeLink, link, pageOf, sentence, table } from './markdown.ts'
import { limitsOf, typeOf } from './schema-words.ts'

export const operationsPage = (): string =>
  pageOf(
    '# Operations',
    '',
    `All paths are below ${code(basePath)}. Send ${code('Authorization: Bearer <ACCESS_TOKEN>')} with every call; the [scopes](scopes.md)`,
    'say what a token may do. Bodies are JSON. A property that is not among the [fields](fields.md) is refused with one of the',
    `[problems](problems.md). A running service has the OpenAPI 3.1 document at ${code(documentPath)} and an interactive`,
    `reference at ${code('/docs')}; the document is also in [contract/src/openapi.json](../../contract/src/openapi.json).`,
    '[Behaviour](../behaviour.md) says what holds for all operations.',
    ...table(
      ['operation', 'call', 'what it does', 'scope'],
      describedOperations.map(({ name, operation: { method, path, summary, scope } }) => [
        link(name),
        code(`${method} ${path}`),
        summary,
        scopeLinks(scope),
      ]),
    ),
    '',
    '## All operations',
    '',
    ...Object.entries(common).map(([what, note]) => `- **${what}:** ${note}`),
    '',
    '## Response headers',
    ...table(
      ['header', 'meaning'],
      Object.entries(responseHeaders).map(([name, { description }]) => [code(name), description]),
    ),
    ...Object.values({ ...resources, changes, exportJobs }).flatMap(({ name, description }) => [
      '',
      `## ${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      '',
      description,
      ...describedOperations.filter(({ resource }) => resource.name === name).flatMap(section),
    ]),
  )

const scopeLinks = (scope: Operation['scope']): string =>
  scopesOf({ scope })
    .map((one) => codeLink(one, 'scopes.md'))
    .join(' or ')

const toProblem = (problem: string): string => codeLink(problem, 'problems.md')

/** What every operation has is said once. */
const inAll = (select: (operation: DescribedOperation) => readonly string[]): string[] => {
  const [first, ...others] = describedOperations.map(select)
  return (first ?? []).filter((one) => others.every((list) => list.includes(one)))
}
const ofAll = { headers: inAll(({ responseHeaders }) => responseHeaders), problems: inAll(({ problems }) => problems) }
const own = (list: readonly string[], shared: readonly string[]): string[] =>
  list.filter((one) => !shared.includes(one))

const common = {
  Lists:
    'Follow the `next` link of the `Link` header until there is none: every record that matches from the first request to the last is returned exactly once, whatever others write meanwhile. A page past the end is empty. Records are in the order of their arrival.',
  Identifiers:
    'Paths, filters and bodies name an account, a publication or a subscription by its `id` or its business identifier. Responses carry the form that [fields](fields.md) describe.',
  Retries:
    'Send every POST with an `Idempotency-Key` of its own: a retry within 24 hours takes effect only once. PATCH and DELETE can be repeated as they are.',
  'Versions of a record':
    'An `ETag` names one. `If-None-Match` returns 304 for what you already have; `If-Match` keeps you from overwriting changes that you have not seen.',
  Caching:
    'A read sees every write that was answered before it began, on every node. `Cache-Control: no-cache` in a request always reads the database.',
  Headers: `Every successful response has ${ofAll.headers.map(code).join(', ')}; further headers are listed with the operation.`,
  Problems: `Any call can return ${ofAll.problems.map(toProblem).join(', ')}.`,
  Sizes: `A body has at most ${largest.bodyBytes / 1024} KiB, a URL ${largest.urlBytes / 1024} KiB.`,
}

const section = (described: DescribedOperation): string[] => {
  const { name, operation, parameters, responseHeaders: headers, problems } = described
  const { method, path, summary, description, scope, body, response, status, download } = operation
  const returned = download ? `the file, as ${download.map(code).join(' or ')}` : link(titleOf(response), 'fields.md')
  return [
    '',
    `### ${name}`,
    '',
    sentence(summary),
    ...(description ? ['', description] : []),
    '',
    '```http',
    `${method} ${basePath}${path}`,
    '```',
    '',
    `- **Scope:** ${scopeLinks(scope)}`,
    ...(body
      ? [`- **Body:** ${link(titleOf(body), 'fields.md')}, as ${mediaTypesOf(operation).map(code).join(' or ')}`]
      : []),
    `- **Response:** ${status} with ${returned}${own(headers, ofAll.headers)
      .map((one) => `, ${code(one)}`)
      .join('')}`,
    ...(download
      ? [
          `- **Parts:** 206 with the part that ${code('Range')} asks for and ${code('Content-Range')}; 416 without a body where the file ends before it`,
        ]
      : []),
    `- **Problems:** [those of any call](#all-operations)${own(problems, ofAll.problems)
      .map((one) => `, ${toProblem(one)}`)
      .join('')}`,
    ...table(
      ['parameter', 'in', 'type', 'meaning'],
      parameters.map(({ name: parameter, in: where, description, schema }) => [
        code(parameter),
        where,
        typeOf(schema),
        [description ?? pathParameter(described, parameter), ...limitsOf(schema)].join(' '),
      ]),
    ),
  ]
}

/** The contract has nothing to say of them but which record they name. */
const pathParameter = ({ resource }: DescribedOperation, parameter: string): string => {
  const { singular, businessIdentifier } = resource
  const field = businessIdentifier === undefined ? '' : `, or its ${code(businessIdentifier)}`
  if (parameter !== `${singular}Id`) throw new Error(`nobody knows what ${parameter} of ${resource.name} names`)
  return `The ${code('id')} of the ${singular}${field}.`
}
