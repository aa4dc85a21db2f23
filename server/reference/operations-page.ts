import { basePath, largest, mediaTypesOf, resources } from '@masthead/contract'
import { answerHeaders, type DescribedOperation, describedOperations } from './described-operations.ts'
import { code, codeLink, link, pageOf, sentence, table } from './markdown.ts'
import { limitsOf, titleOf, typeOf } from './schema-words.ts'

export const operationsPage = (): string =>
  pageOf(
    '# Operations',
    '',
    `All paths are below ${code(basePath)}. Send ${code('Authorization: Bearer <ACCESS_TOKEN>')} with every call; the [scopes](scopes.md)`,
    'say what a token may do. Bodies are JSON, closed: what the [fields](fields.md) do not have is refused, by one of the',
    '[problems](problems.md). The same as an OpenAPI 3.1 document is at',
    `${code(`${basePath}/openapi.json`)} of a running service, which shows it for trying out at ${code('/docs')}, and in`,
    '[contract/src/openapi.json](../../contract/src/openapi.json).',
    ...table(
      ['operation', 'call', 'what it does', 'scope'],
      describedOperations.map(({ name, operation: { method, path, summary, scope } }) => [
        link(name),
        code(`${method} ${path}`),
        summary,
        codeLink(scope, 'scopes.md'),
      ]),
    ),
    '',
    '## What all have in common',
    '',
    ...Object.entries(common).map(([what, note]) => `- **${what}:** ${note}`),
    '',
    '## Headers of answers',
    ...table(
      ['header', 'meaning'],
      Object.entries(answerHeaders).map(([name, { description }]) => [code(name), description]),
    ),
    ...Object.values(resources).flatMap(({ name, description }) => [
      '',
      `## ${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      '',
      description,
      ...describedOperations.filter(({ resource }) => resource.name === name).flatMap(section),
    ]),
  )

const toProblem = (problem: string): string => codeLink(problem, 'problems.md')

/** What every operation has is said once. */
const inAll = (select: (operation: DescribedOperation) => readonly string[]): string[] => {
  const [first, ...others] = describedOperations.map(select)
  return (first ?? []).filter((one) => others.every((list) => list.includes(one)))
}
const ofAll = { headers: inAll(({ answerHeaders }) => answerHeaders), problems: inAll(({ problems }) => problems) }
const own = (list: readonly string[], shared: readonly string[]): string[] =>
  list.filter((one) => !shared.includes(one))

const common = {
  Lists:
    'Follow the `next` address of the `Link` header until there is none: every record that matched from the first request to the last comes exactly once, whatever others write meanwhile. A page beyond the end is empty. Records come in the order of their arrival.',
  Identifiers:
    'Whatever names an account, a publication or a subscription takes its `id` or its business identifier. Answers carry the form that [fields](fields.md) describe.',
  Retries:
    'Give every POST an `Idempotency-Key` of its own: sent again within 24 hours it is not done twice. PATCH and DELETE can be repeated as they are.',
  'Versions of a record':
    'An `ETag` names one. `If-None-Match` saves the way for what you have; `If-Match` keeps you from overwriting what you have not seen.',
  Memory:
    'What was written through one node is read there at once, and on all others within a second. `Cache-Control: no-cache` in a request always reads the database.',
  Headers: `Every success carries ${ofAll.headers.map(code).join(', ')}; those of an operation stand with it.`,
  Problems: `Any call can meet ${ofAll.problems.map(toProblem).join(', ')}.`,
  Sizes: `A body has at most ${largest.bodyBytes / 1024} KiB, a URL ${largest.urlBytes / 1024} KiB.`,
}

const section = (described: DescribedOperation): string[] => {
  const { name, operation, parameters, answerHeaders: headers, problems } = described
  const { method, path, summary, scope, body, answer, status } = operation
  return [
    '',
    `### ${name}`,
    '',
    sentence(summary),
    '',
    '```http',
    `${method} ${basePath}${path}`,
    '```',
    '',
    `- **Scope:** ${codeLink(scope, 'scopes.md')}`,
    ...(body
      ? [`- **Body:** ${link(titleOf(body), 'fields.md')}, as ${mediaTypesOf(operation).map(code).join(' or ')}`]
      : []),
    `- **Answer:** ${status} with ${link(titleOf(answer), 'fields.md')}${own(headers, ofAll.headers)
      .map((one) => `, ${code(one)}`)
      .join('')}`,
    `- **Problems:** [those of any call](#what-all-have-in-common)${own(problems, ofAll.problems)
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
