import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bar, judge, ratiosOf } from './bars.ts'
import { chartOf } from './chart.ts'
import { prepareData, seed } from './data.ts'
import { delegatedTokens } from './delegated-tokens.ts'
import { importCost } from './import-cost.ts'
import { openLoad } from './load.ts'
import { memoryOf } from './memory.ts'
import { measureInTurns, type Results, requireSameAnswers, summaryOf } from './rounds.ts'
import { startServers } from './servers.ts'
import { singleInserts } from './single-inserts.ts'
import { startCost } from './start-cost.ts'
import { barsTable, tableOf } from './table.ts'
import { workloadsOf } from './workloads.ts'

/** What Masthead costs beside the limits and the peers: `npm run bench`. README.md says what is measured, and how. */
const usage = `Usage: npm run bench -- [options] [what …]

Measures everything, which takes twenty to thirty minutes, and the first time fifteen more to make a million contacts. With
names only the workloads whose names hold one of them, as "page 1"; start, import and chart are names too.

  --rounds <n>   how many rounds (default 7)
  --seconds <n>  how long each server is asked in a round, in whole seconds (default 1)
  --json         print one JSON document
  --help         print this
`

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const positive = (text: string, option: string): number => {
  if (Number(text) > 0) return Number(text)
  throw new Error(`${option} must be a number above 0, not "${text}"`)
}
const dataDirectory = resolve('.masthead/bench')
const chartFile = 'docs/images/list-cost.svg'
const importedRows = 100_000
/** What has a name of its own, and is not a row of the table. */
const besides = ['start', 'import', 'chart']

const isWanted = (name: string): boolean => wanted.length === 0 || wanted.some((word) => name.includes(word))
const say = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${what.slice(0, (process.stderr.columns || 80) - 1)}`)
}

const requireKnown = (names: string[]): void => {
  const all = [...names, ...besides]
  const unknown = wanted.find((word) => !all.some((name) => name.includes(word)))
  if (unknown !== undefined) throw new Error(`nothing is named "${unknown}"; there are:\n  ${all.join('\n  ')}`)
}

/** What was measured beside the table: what is to be reached, and what a reader should know. */
type Findings = { bars: Bar[]; notes: string[] }

const main = async (): Promise<void> => {
  const { results, ...findings } = await measureServers()
  const all: Findings[] = [findings]
  if (isWanted('start')) all.push(await measureStart())
  if (isWanted('import')) all.push(await measureImport())
  if (isWanted('chart')) await drawChart(results)
  say('')
  const bars = all.flatMap((found) => found.bars).map(judge)
  const notes = all.flatMap((found) => found.notes)
  if (options.json) process.stdout.write(`${JSON.stringify({ workloads: plain(results), bars, notes }, null, 2)}\n`)
  else process.stdout.write(`${[tableOf(results), barsTable(bars), notes.join('\n')].filter(Boolean).join('\n\n')}\n`)
}

const plain = (results: Results) =>
  [...results].map(([{ name }, cells]) => {
    const summaries = Object.entries(cells).map(([server, slices]) => [server, summaryOf(slices)])
    return { name, servers: Object.fromEntries(summaries) }
  })

const measureServers = async (): Promise<Findings & { results: Results }> => {
  const rounds = Math.ceil(positive(options.rounds, '--rounds'))
  const seconds = Math.ceil(positive(options.seconds, '--seconds'))
  say('making the data')
  const tenants = seed(dataDirectory)
  const servers = await startServers(dataDirectory)
  const load = openLoad()
  try {
    const { masthead, origins, database, keep } = servers
    const data = await prepareData(tenants, masthead, database)
    const inserts = singleInserts(dataDirectory, data.writtenByOthers)
    const all = await workloadsOf({
      data,
      origins,
      keep,
      insertAlone: inserts.measure,
      delegatedToken: delegatedTokens(dataDirectory, masthead, data.large.slug),
      positionOf: async ({ id }, contactId) => {
        const text = 'select position from contacts where tenant_id = $1 and id = $2'
        return (await database.query(text, [id, contactId])).rows[0].position
      },
    })
    requireKnown(all.map(({ name }) => name))
    const workloads = all.filter(({ name, charted }) => isWanted(name) || (charted && isWanted('chart')))
    await requireSameAnswers(workloads, origins)
    let memory = 0
    const look = () => {
      memory = Math.max(memory, memoryOf(masthead.pid))
    }
    const results = await measureInTurns(workloads, { load, servers, rounds, seconds, say, look })
    return {
      results,
      bars: [
        ...ratiosOf(results),
        ...(memory > 0
          ? [{ name: 'memory of the serving process', value: memory / 2 ** 20, unit: 'MiB' as const, most: 256 }]
          : []),
      ],
      notes: [
        `Medians of ${rounds} rounds of ${seconds} s each, all servers in turn; ratios are medians of the ratios of each round.`,
        'CPU: processor time of the server and of PostgreSQL for a response; others on the machine disturb it less than times.',
        `PostgreSQL alone: single-row inserts by ${inserts.by}.`,
        ...noteOfLoad(load.by, results),
        ...(servers.missing ? [`Go was left out: ${servers.missing}.`] : []),
      ],
    }
  } finally {
    load.stop()
    await servers.stop()
  }
}

/** One thread sends the load, so it can send twice as much when it takes at most half of a core. */
const noteOfLoad = (by: string, results: Results): string[] => {
  const cells = [...results].flatMap(([{ name }, ofServers]) =>
    Object.entries(ofServers).map(([server, slices]) => ({
      cell: `${name} (${server})`,
      busy: summaryOf(slices)?.busy ?? 0,
    })),
  )
  if (cells.length === 0) return []
  const busiest = Math.max(...cells.map(({ busy }) => busy || 0))
  const limited = cells.filter(({ busy }) => busy > 0.5).map(({ cell }) => cell)
  return [
    `The load came from ${by}, which took at most ${Math.round(busiest * 100)} % of a core: with one of its own it can send ${(1 / busiest).toFixed(1)} times what was measured, or more.`,
    ...(limited.length > 0 ? [`That is less than twice, so the load may be the limit of: ${limited.join(', ')}.`] : []),
  ]
}

const measureStart = async (): Promise<Findings> => {
  say('starting and stopping')
  const { postgres, masthead } = await startCost(dataDirectory)
  const most = 1.5 * postgres + 500
  return {
    bars: [{ name: 'start, until /readyz', value: masthead, unit: 'ms', most }],
    notes: [`The bar of the start: 1.5 × PostgreSQL's own start, ${Math.round(postgres)} ms, and 500 ms.`],
  }
}

const measureImport = async (): Promise<Findings> => {
  say('importing')
  const { rows, searchable, imported } = await importCost(importedRows)
  const speed = (seconds: number) => Math.round(rows / seconds).toLocaleString('en')
  return {
    bars: [{ name: 'import ÷ COPY', value: searchable / imported.seconds, unit: '×', least: 0.5 }],
    notes: [
      `Import: ${speed(imported.seconds)} contacts/s, COPY with the same indexes: ${speed(searchable)}, of ${rows.toLocaleString('en')} contacts.`,
    ],
  }
}

const drawChart = async (results: Results): Promise<void> => {
  await mkdir(dirname(chartFile), { recursive: true })
  await writeFile(chartFile, chartOf(results))
}

try {
  if (options.help) process.stdout.write(usage)
  else await main()
} catch (error) {
  say('')
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
