import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, type Served, serve } from './served.ts'

/** What it costs a call to be observed: `npm run bench:observing`. The same call to each server in turn, many times. */
const rounds = 100
const callsARound = 300
const callers = 8

/** `again` is `nothing` once more: it shows how much of a difference is chance. */
const variantsWith = (collector: string): Record<string, Record<string, string>> => ({
  nothing: {},
  again: {},
  metrics: { METRICS_PORT: '0' },
  log: { LOG_LEVEL: 'info' },
  traces: { OTEL_EXPORTER_OTLP_ENDPOINT: collector },
})

type Cost = { callsASecond: number; microseconds: number }

const main = async (): Promise<void> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'masthead-bench-'))
  run(dataDirectory, 'masthead', ['demo', '--accounts', '1000'])
  const servers = new Map<string, Served>()
  try {
    for (const [name, more] of Object.entries(variantsWith(await takeTraces())))
      servers.set(name, await serve(dataDirectory, more, 'ignore'))
    const [{ api, masthead }] = [...servers.values()] as [Served] // there is one
    const words = 'token create --tenant demo --service bench --name bench --scopes contacts:read --json'.split(' ')
    const { token } = JSON.parse(masthead(...words))
    const { items } = JSON.parse(await fetchText(`${api}/contacts?pageSize=1`, token, new Agent()))
    const costs = new Map<string, Cost[]>([...servers.keys()].map((name) => [name, []]))
    for (let round = -5; round < rounds; round++) {
      for (const [name, served] of servers) {
        const cost = await burst(served, `/contacts/${items[0].id}`, token)
        if (round >= 0) costs.get(name)?.push(cost)
      }
    }
    report(costs)
  } finally {
    for (const served of servers.values()) await served.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}

const takeTraces = async (): Promise<string> => {
  const collector = createServer((request, response) => request.resume().on('end', () => response.end('{}')))
  collector.listen(0, '127.0.0.1').unref()
  await once(collector, 'listening')
  const address = collector.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const burst = async ({ api, pid }: Served, path: string, token: string): Promise<Cost> => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const [begun, used] = [performance.now(), processorMicroseconds(pid)]
  let left = callsARound
  const call = async () => {
    while (left-- > 0) await fetchText(api + path, token, agent)
  }
  await Promise.all(Array.from({ length: callers }, call))
  agent.destroy()
  return {
    callsASecond: callsARound / ((performance.now() - begun) / 1_000),
    microseconds: (processorMicroseconds(pid) - used) / callsARound,
  }
}

/** Of all threads of a process, as Linux tells it. */
const processorMicroseconds = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1_000)
    .reduce((sum, microseconds) => sum + microseconds, 0)

const fetchText = (address: string, token: string, agent: Agent): Promise<string> =>
  new Promise((done, fail) => {
    get(address, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.on('end', () => (response.statusCode === 200 ? done(text) : fail(new Error(text))))
    }).on('error', fail)
  })

/** Of the rounds in which other programs disturbed least. */
const least = (values: number[]): number =>
  values.sort((one, other) => one - other)[Math.floor(values.length / 20)] ?? Number.NaN

const report = (costs: Map<string, Cost[]>): void => {
  const microseconds = (all: Cost[] = []) => least(all.map(({ microseconds }) => microseconds))
  const base = microseconds(costs.get('nothing'))
  const lines = [...costs].map(([name, all]) => {
    const rate = -least(all.map(({ callsASecond }) => -callsASecond))
    const cost = microseconds(all)
    const share = `${((100 * cost) / base - 100).toFixed(1)} %`
    return `${name.padEnd(12)} ${rate.toFixed(0).padStart(6)} calls/s ${cost.toFixed(1).padStart(8)} µs of processor a call ${share.padStart(8)}`
  })
  process.stdout.write(`${lines.join('\n')}\n`)
}

await main()
