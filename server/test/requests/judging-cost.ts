import { customerApi, largest, managementApi, type NamedOperation } from '@masthead/contract'
import { bodyReader } from '../../src/http/api/requests/request-body.ts'
import { problemResponse } from '../../src/http/responses/problems.ts'
import { Problem } from '../../src/problem.ts'
import { hostileBodies } from './hostile-bodies.ts'

/**
 * What it costs to judge a hostile body, and to say what is wrong with it, for every operation that takes one:
 * `npm run bench:judging`. Processor time as a multiple of `JSON.parse` of the same bytes, at the largest size that is let
 * in and at an eighth of it: the table shows the greater of the two, and of properties of several kinds the one that costs
 * most. Fails where it is more than ten times.
 */
const mostTimes = 10
const sizes = [largest.bodyBytes / 8, largest.bodyBytes]
const batches = 3
const batchMicroseconds = 1_000

const main = (): void => {
  const judged = [...customerApi.operations, ...managementApi.operations].filter(({ operation }) => operation.body)
  const columns = judged.map(timesByShape)
  const write = (line: string) => process.stdout.write(`${line}\n`)
  judged.forEach(({ name }, index) => {
    write(`${String(index + 1).padStart(2)}  ${name}`)
  })
  const shapes = [...(columns[0]?.keys() ?? [])]
  const width = Math.max(...shapes.map(({ length }) => length))
  const row = (title: string, cells: string[]) =>
    write([title.padEnd(width), ...cells.map((cell) => cell.padStart(5))].join(''))
  row(
    '\n× JSON.parse',
    columns.map((_column, index) => String(index + 1)),
  )
  for (const shape of shapes)
    row(
      shape,
      columns.map((column) => (column.get(shape) ?? Number.NaN).toFixed(1)),
    )
  const most = Math.max(...columns.flatMap((column) => [...column.values()]))
  write(`\nat most ${most.toFixed(1)} × JSON.parse; ${mostTimes} are allowed`)
  if (most > mostTimes) process.exitCode = 1
}

const timesByShape = ({ operation }: NamedOperation): Map<string, number> => {
  const times = new Map<string, number>()
  const read = bodyReader(operation)
  const judge = (bytes: Buffer): void => {
    try {
      read({ 'content-type': 'application/json' }, bytes)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      problemResponse(error, 'https://api.example.com', 'id')
    }
  }
  for (const { shape, body } of operation.body ? hostileBodies(operation.body) : []) {
    for (const size of sizes) {
      const bytes = Buffer.from(body(size))
      if (bytes.length > largest.bodyBytes) throw new Error(`${shape} has ${bytes.length} bytes`)
      const multiple = costOf(() => judge(bytes)) / costOf(() => parse(bytes))
      times.set(shape, Math.max(multiple, times.get(shape) ?? 0))
    }
  }
  return times
}

const parse = (bytes: Buffer): void => {
  try {
    JSON.parse(bytes.toString())
  } catch {
    // Also what is no JSON has to be read to see it.
  }
}

/** Microseconds of processor time of this thread, which whatever else runs on the machine disturbs little. */
const costOf = (work: () => void): number => {
  let least = Number.POSITIVE_INFINITY
  for (let batch = 0; batch < batches; batch++) {
    const begun = process.threadCpuUsage()
    let [times, used] = [0, 0]
    for (; used < batchMicroseconds; times++) {
      work()
      const { user, system } = process.threadCpuUsage(begun)
      used = user + system
    }
    least = Math.min(least, used / times)
  }
  return least
}

main()
