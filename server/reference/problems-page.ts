import { Problem, type ProblemCode, problems } from '@masthead/contract'
import { describedOperations, problemCodes } from './described-operations.ts'
import { codeLink, link, pageOf, table } from './markdown.ts'
import { plain } from './schema-words.ts'

export const problemsPage = (): string =>
  pageOf(
    '# Problems',
    '',
    'Every error response is a [Problem](fields.md#problem). Decide by `code`, which is stable. `detail` tells people what is wrong with',
    'this request, `errors` names the places in it, and `requestId` finds it in the log of the operator. `type` is the URL of a page of',
    'the service that explains the problem, as this one does.',
    '',
    '```json',
    JSON.stringify(example, null, 2),
    '```',
    ...table(
      ['status', 'code', 'meaning'],
      problemCodes.map((name) => [String(problems[name].status), codeLink(name), problems[name].title]),
    ),
    ...problemCodes.flatMap((name) => {
      const { status, title, cause, cure } = problems[name]
      return [
        '',
        `## ${name}`,
        '',
        `${status}: ${title}.`,
        '',
        `- **Cause:** ${cause}`,
        `- **Cure:** ${cure}`,
        `- **Met by:** ${metBy(name)}`,
      ]
    }),
  )

const metBy = (name: ProblemCode): string => {
  if (!plain(Problem.properties.code).enum?.includes(name)) return 'the console alone'
  const operations = describedOperations.filter((operation) => operation.problems.includes(name))
  if (operations.length === 0)
    return 'requests to paths of the API by a method that is none of its [operations](operations.md)'
  if (operations.length === describedOperations.length) return 'any call'
  return operations.map((operation) => link(operation.name, 'operations.md')).join(', ')
}

const example = {
  type: 'https://api.example.com/problems/invalid_parameter',
  title: problems.invalid_parameter.title,
  status: problems.invalid_parameter.status,
  detail: 'There is no parameter `pagesize`. Did you mean `pageSize`?',
  code: 'invalid_parameter',
  requestId: '0f9f1b7e6c7c4a579c6e2f3f7f0f6a11',
  errors: [
    {
      parameter: 'pagesize',
      code: 'unknown_parameter',
      detail: 'There is no parameter `pagesize`. Did you mean `pageSize`?',
    },
  ],
}
