import { type NamedOperation, openapi, operations, type ProblemCode, problems } from '@masthead/contract'

/** An operation as the OpenAPI document describes it: with what follows from its shape, and its problems. */
export type DescribedOperation = NamedOperation & {
  parameters: readonly Parameter[]
  responseHeaders: readonly string[]
  problems: readonly ProblemCode[]
}
type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  schema: Record<string, unknown>
}
type Described = {
  parameters?: Parameter[]
  responses: Record<string, { description: string; headers?: Record<string, unknown>; content?: object }>
}
type Document = { paths: Record<string, Record<string, Described>>; components: { headers: Record<string, Header> } }
type Header = { description: string }

const document = openapi() as Document // as its generator builds it

export const responseHeaders: Readonly<Record<string, Header>> = document.components.headers

export const problemCodes = Object.keys(problems) as ProblemCode[] // the keys of `problems` are the codes

/** The responses name each code that they stand for. */
const problemsIn = ({ responses }: Described): ProblemCode[] =>
  Object.entries(responses)
    // One without a body is no problem of the contract.
    .filter(([status, { content }]) => Number(status) >= 400 && content)
    .flatMap(([status, { description }]) => {
      const named = problemCodes.filter(
        (code) => problems[code].status === Number(status) && description.includes(`\`${code}\``),
      )
      if (named.length === 0) throw new Error(`the OpenAPI document does not say which problem a ${status} is`)
      return named
    })

export const describedOperations: readonly DescribedOperation[] = operations.map((named) => {
  const { method, path, status } = named.operation
  const described = document.paths[path]?.[method.toLowerCase()]
  if (!described) throw new Error(`the OpenAPI document does not have ${named.name}`)
  return {
    ...named,
    parameters: described.parameters ?? [],
    responseHeaders: Object.keys(described.responses[status]?.headers ?? {}),
    problems: problemsIn(described),
  }
})
