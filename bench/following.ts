import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { processorTimeOf } from './processor-time.ts'
import { postmasterOf, run, type Served, serve } from './served.ts'

/** What it costs to follow: `npm run bench:following`. */
const streams = 1_000
const rounds = 15
const callsARound = 2_000
const callers = 8
const writes = 100

const open = async (url: string, token: string, agent?: Agent, accept = '*/*'): Promise<IncomingMessage> => {
  const headers = { authorization: `Bearer ${token}`, accept }
  const [response] = await once(get(url, { headers, ...(agent ? { agent } : { agent: false }) }), 'response')
  if (response.statusCode !== 200) throw new Error(`${url} was answered with ${response.statusCode}`)
  return response
}

const textAt = async (url: string, token: string, agent?: Agent): Promise<string> =>
  (await (await open(url, token, agent)).toArray()).join('')

/** What the process holds now, in MiB. */
const memoryOf = (pid: number): number => {
  const [, kibibytes = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1_024
}

/** Microseconds of processor time of the server and of PostgreSQL for each call. */
const costOf = async (served: Served, postmaster: number, path: string, token: string): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const before = processorTimeOf(served.pid, postmaster)
  let left = callsARound
  const caller = async () => {
    while (left-- > 0) await textAt(served.api + path, token, agent)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  agent.destroy()
  return ((processorTimeOf(served.pid, postmaster) - before) / callsARound) * 1_000_000
}

const median = (all: readonly number[]): number =>
  all.toSorted((one, other) => one - other)[all.length >> 1] ?? Number.NaN

const show = (line: string): unknown => process.stdout.write(`${line}\n`)

const main = async (): Promise<void> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'masthead-bench-'))
  run(dataDirectory, 'masthead', ['demo', '--accounts', '200'])
  const served = await serve(dataDirectory, {}, 'ignore')
  try {
    const { api, masthead, pid } = served
    const words = 'token create --tenant demo --service bench --name bench --scopes contacts:read,contacts:write --json'
    const { token } = JSON.parse(masthead(...words.split(' ')))
    const { items } = JSON.parse(await textAt(`${api}/contacts?pageSize=1`, token))
    let cursor = ''
    for (let hasMore = true; hasMore; ) {
      const page = JSON.parse(await textAt(`${api}/changes?limit=1000${cursor && `&after=${cursor}`}`, token))
      cursor = page.cursor
      hasMore = page.hasMore
    }
    const postmaster = await postmasterOf(dataDirectory)
    // First, because what a load has left would be used again.
    await delay(3_000)
    const before = memoryOf(pid)
    const opened: IncomingMessage[] = []
    for (let count = 0; count < streams; count++)
      opened.push(await open(`${api}/changes?after=${cursor}`, token, undefined, 'text/event-stream'))
    for (const stream of opened) stream.resume()
    await delay(3_000)
    const used = processorTimeOf(pid, postmaster)
    await delay(20_000)
    const share = (processorTimeOf(pid, postmaster) - used) / 20
    show(`${streams} idle streams: ${(memoryOf(pid) - before).toFixed(1)} MiB, ${(100 * share).toFixed(1)} % of a core`)

    // All of them follow one tenant, so each write has each of them read. The last one is told last.
    const others = opened.slice(0, -1)
    const stream = opened.at(-1)
    for (const followers of [opened.length, 1]) {
      if (followers === 1) for (const other of others) other.destroy()
      const lags = await lagsOf(stream, api, token, items[0])
      show(
        `from the answer to a write to its event, with ${followers} followers of the tenant: median ${median(lags).toFixed(0)} ms, longest ${Math.max(...lags).toFixed(0)} ms, of ${writes}`,
      )
    }
    stream?.destroy()

    const costs: Record<string, number[]> = { 'get by id': [], 'changes, unchanged': [] }
    for (let round = -2; round < rounds; round++)
      for (const [name, path] of [
        ['get by id', `/contacts/${items[0].id}`],
        ['changes, unchanged', `/changes?after=${cursor}`],
      ] as const) {
        const cost = await costOf(served, postmaster, path, token)
        if (round >= 0) costs[name]?.push(cost)
      }
    const [one = Number.NaN, other = Number.NaN] = Object.values(costs).map(median)
    show(
      `get by id: ${one.toFixed(0)} µs of processor time; changes of an unchanged tenant: ${other.toFixed(0)} µs; ratio ${(other / one).toFixed(2)}`,
    )
  } finally {
    await served.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}

/** One write after the other, each with a name of its own, until the stream brings it. */
const lagsOf = async (
  stream: IncomingMessage | undefined,
  api: string,
  token: string,
  { id, accountId }: { id: string; accountId: string },
): Promise<number[]> => {
  let seen = ''
  const note = (text: string) => (seen += text)
  stream?.setEncoding('utf8').on('data', note)
  const lags: number[] = []
  const begun = Date.now()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (let number = 0; number < writes; number++) {
    const name = `Lag ${number} ${begun}.`
    const response = await fetch(`${api}/contacts/${id}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ accountId, name }),
    })
    if (response.status !== 200) throw new Error(`a write was answered with ${response.status}`)
    const answered = performance.now()
    while (!seen.includes(name)) await delay(1)
    lags.push(performance.now() - answered)
    seen = ''
  }
  stream?.off('data', note)
  return lags
}

await main()
