import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { newToken } from './quiet-caller.ts'
import { run, type Served, serve } from './served.ts'
import { report } from './timing.ts'

/**
 * What endpoints cost a write, and how soon they are told: `npm run bench:webhooks [rounds]`. Tenants with no endpoint, one and three take
 * turns with creates of a contact, one at a time and 16 at once. Nobody delivers meanwhile, because that costs a write nothing: any process
 * can do it. `again` is `none` once more, and shows how much of a difference is chance. Then the service delivers to a receiver that refuses
 * one record, while another process writes 20 others a second.
 */
const rounds = Number(process.argv[2] ?? 40)
const createsARound = 25
const tenants = { none: 0, again: 0, one: 1, three: 3 }
const arrivals = { eachSecond: 20, seconds: 30 }
const agent = new Agent({ keepAlive: true, maxSockets: 16 })

type Tenant = { token: string; accountId: string }

const main = async (): Promise<void> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'masthead-bench-'))
  const times = new Map<string, number[]>()
  try {
    await measureWrites(dataDirectory, times)
    await measureArrivals(dataDirectory, times)
  } finally {
    await rm(dataDirectory, { recursive: true, force: true })
  }
  report(times, [
    ...['alone', 'of 16'].flatMap((load) => [
      { name: `${load}: again ÷ none`, of: `${load}: again`, by: `${load}: none` },
      { name: `${load}: one ÷ none`, of: `${load}: one`, by: `${load}: none` },
      { name: `${load}: three ÷ none`, of: `${load}: three`, by: `${load}: none`, most: 1.2 },
    ]),
  ])
}

const measureWrites = async (dataDirectory: string, times: Map<string, number[]>): Promise<void> => {
  run(dataDirectory, 'masthead', ['demo', '--tenant', 'none', '--accounts', '10'])
  const served = await serve(dataDirectory, {}, 'inherit', ['--no-work'])
  try {
    const all = new Map<string, Tenant>()
    for (const [name, endpoints] of Object.entries(tenants)) {
      all.set(name, await newTenant(served, name))
      for (let count = 0; count < endpoints; count++) subscribe(served, name, 'http://127.0.0.1:9/')
    }
    for (let round = -4; round < rounds; round++) {
      for (const [name, tenant] of all) {
        const alone = await createAll(served, tenant, 1)
        const together = await createAll(served, tenant, 16)
        if (round < 0) continue
        times.set(`alone: ${name}`, [...(times.get(`alone: ${name}`) ?? []), ...alone])
        times.set(`of 16: ${name}`, [...(times.get(`of 16: ${name}`) ?? []), ...together])
      }
    }
  } finally {
    await served.stop()
  }
}

/** From the response to the write, which follows its commit, to the arrival of its event. */
const measureArrivals = async (dataDirectory: string, times: Map<string, number[]>): Promise<void> => {
  const arrived = new Map<string, number>()
  let refused = ''
  const receiver = createServer(async (incoming, response) => {
    const { data } = JSON.parse(await text(incoming))
    const isRefused = data.name === 'refused' || data.id === refused
    if (!isRefused && !arrived.has(data.id)) arrived.set(data.id, performance.now())
    response.writeHead(isRefused ? 500 : 204).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = receiver.address()
  const served = await serve(dataDirectory)
  try {
    const tenant = await newTenant(served, 'told')
    subscribe(served, 'told', `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`)
    refused = await create(served, tenant, 'refused')
    const written = new Map<string, number>()
    for (let number = 0; number < arrivals.eachSecond * arrivals.seconds; number++) {
      written.set(await create(served, tenant, 'other'), performance.now())
      await delay(1_000 / arrivals.eachSecond)
    }
    for (const deadline = performance.now() + 30_000; arrived.size < written.size && performance.now() < deadline; )
      await delay(100)
    if (arrived.size < written.size) throw new Error(`${written.size - arrived.size} events did not arrive`)
    times.set(
      'commit to arrival',
      [...written].map(([id, at]) => Math.max(0, (arrived.get(id) ?? Number.POSITIVE_INFINITY) - at)),
    )
  } finally {
    await served.stop()
    receiver.close()
  }
}

const newTenant = async (served: Served, slug: string): Promise<Tenant> => {
  if (slug !== 'none') served.masthead('demo', '--tenant', slug, '--accounts', '10')
  const token = newToken(served, slug)
  const { items } = JSON.parse(await send(served, token, 'GET', '/accounts?pageSize=1'))
  return { token, accountId: items[0].accountId }
}

const subscribe = ({ masthead }: Served, tenant: string, url: string): void => {
  masthead(
    'webhook',
    'create',
    '--tenant',
    tenant,
    '--url',
    url,
    '--events',
    'contact.created,contact.updated',
    '--json',
  )
}

/** Milliseconds that each took. */
const createAll = async (served: Served, tenant: Tenant, atOnce: number): Promise<number[]> => {
  const times: number[] = []
  let left = createsARound
  const work = async () => {
    while (left-- > 0) {
      const begun = performance.now()
      await create(served, tenant, 'Ada Lovelace')
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return times
}

const create = async (served: Served, { token, accountId }: Tenant, name: string): Promise<string> =>
  JSON.parse(await send(served, token, 'POST', '/contacts', { accountId, name })).id

const send = ({ api }: Served, token: string, method: string, path: string, body?: object): Promise<string> =>
  new Promise((done, fail) => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const sent = request(api + path, { method, agent, headers }, (response) => {
      text(response).then((body) => ((response.statusCode ?? 0) < 300 ? done(body) : fail(new Error(body))), fail)
    })
    sent.on('error', fail).end(body && JSON.stringify(body))
  })

await main()
