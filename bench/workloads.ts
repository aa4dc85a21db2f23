import * as ask from './asks.ts'
import { type Data, randomCount, rareWord, type Tenant } from './data.ts'
import type { Kept } from './limits/memory.ts'
import { entityTagOf, responseTo } from './responses.ts'
import type { Ask, Measured } from './slice.ts'

/** Masthead, the two limits, the peers, and PostgreSQL without any server before it. */
export const serverNames = ['masthead', 'memory', 'stored', 'express', 'go', 'tunedGo', 'postgres'] as const
export type ServerName = (typeof serverNames)[number]
export type HttpServer = Exclude<ServerName, 'postgres'>
/** Go is not installed everywhere. */
type Optional = 'go' | 'tunedGo'
export type Origins = Record<Exclude<HttpServer, Optional>, string> & Partial<Record<Optional, string>>

export type Workload = {
  name: string
  connections: number
  asks: Partial<Record<HttpServer, Ask[] | (() => Promise<Ask[]>)>>
  postgres?: (connections: number, seconds: number) => Promise<Measured>
  /** For the chart and not for the table: how long a request takes when it is the only one. */
  charted?: { rows: number; page: number }
}

type Sources = {
  data: Data
  origins: Origins
  delegatedToken: () => Promise<string>
  /** Has the limit in memory keep responses, which it gives by their numbers. */
  keep: (responses: Kept[]) => Promise<void>
  positionOf: (tenant: Tenant, contactId: string) => Promise<number>
  insertAlone: NonNullable<Workload['postgres']>
}

export const deepPage = 15_000
const depths = [10, 100, 1_000, deepPage]

/** As many callers as a busy node has at one moment. */
const many = 32
/** A search is measured for one caller, and for so many. */
const searchers = 32

export const workloadsOf = async (sources: Sources): Promise<Workload[]> => {
  const { data, origins, delegatedToken, keep, insertAlone } = sources
  const { small, large, random, email, mixed, written, writtenByOthers } = data
  const kept: Kept[] = []
  const memory = async (asks: Ask[]): Promise<Ask[]> => {
    const numbered: Ask[] = []
    for (const one of asks)
      numbered.push({ ...one, path: `/${kept.push(await responseTo(origins.masthead, one)) - 1}` })
    return numbered
  }
  const workload = (name: string, asks: Workload['asks']): Workload => ({ name, connections: many, asks })
  const peers = (asks: Ask[]): Workload['asks'] => ({ express: asks, go: asks })
  const hot = async (name: string, asks: Ask[]): Promise<Workload> =>
    workload(`${name}, hot`, { masthead: asks, memory: await memory(asks), ...peers(asks) })
  const cold = (name: string, asks: Ask[], others: Workload['asks'] = {}): Workload =>
    workload(`${name}, cold`, { masthead: asks.map(ask.cold), ...others })
  const search = (name: string, word: string, connections: number, by: HttpServer[]): Workload => {
    const asks = [ask.cold(ask.search(large, word))]
    return { name, connections, asks: Object.fromEntries(by.map((server) => [server, asks])) }
  }
  const tagged = await unchanged(origins.masthead, ask.page(small, 1))
  const workloads: Workload[] = [
    await hot('get by id', ask.contacts(large)),
    cold('get by id', ask.contacts(large), { stored: ask.storedContacts(large) }),
    cold('get by id of 1,000', ask.contacts(small)),
    await hot('page 1 of 1,000', [ask.page(small, 1)]),
    cold('page 1 of 1,000', [ask.page(small, 1)], { stored: await storedPage(sources, small, 1) }),
    await hot('page 1 of 1,000,000', [ask.page(large, 1)]),
    cold('page 1 of 1,000,000', [ask.page(large, 1)], { stored: await storedPage(sources, large, 1) }),
    cold('page 15,000', [ask.page(large, deepPage)], {
      stored: await storedPage(sources, large, deepPage),
      ...peers([ask.page(large, deepPage)]),
    }),
    workload(`get by id, ${inWords(randomCount)} random`, {
      masthead: ask.contacts(random),
      ...peers(ask.contacts(random)),
    }),
    cold(`get by id, ${inWords(randomCount)} random`, ask.contacts(random), peers(ask.contacts(random))),
    cold('of an account', ask.ofAccounts(large), peers(ask.ofAccounts(large))),
    cold('of an account of 1,000', ask.ofAccounts(small)),
    workload(`of an account, ${inWords(randomCount)} random`, {
      masthead: ask.ofAccounts(random),
      ...peers(ask.ofAccounts(random)),
    }),
    search('rare search, alone', rareWord, 1, ['masthead', 'express', 'go', 'tunedGo']),
    search('rare search, 32 callers', rareWord, searchers, ['masthead', 'tunedGo']),
    search('two-letter search, alone', 'qj', 1, ['masthead', 'tunedGo']),
    search('whole e-mail search, alone', email, 1, ['masthead', 'tunedGo']),
    search('common search, alone', 'Manager', 1, ['masthead', 'express', 'go', 'tunedGo']),
    workload('304, hot', {
      masthead: tagged,
      memory: await memory(tagged),
      express: await unchanged(origins.express, ask.page(small, 1)),
    }),
    workload('delegated token, get by id, hot', {
      masthead: async () => ask.contacts({ ...large, token: await delegatedToken() }),
    }),
    workload('8 tenants mixed', { masthead: ask.mixture(mixed), ...peers(ask.mixture(mixed)) }),
    {
      ...workload('create contact, 1 tenant', {
        masthead: written.slice(0, 1).map(ask.create),
        ...peers(writtenByOthers.slice(0, 1).map(ask.create)),
      }),
      postgres: insertAlone,
    },
    {
      ...workload('create contact, 16 tenants', {
        masthead: written.map(ask.create),
        ...peers(writtenByOthers.map(ask.create)),
      }),
      postgres: insertAlone,
    },
    workload('update contact, 16 tenants', {
      masthead: written.flatMap((tenant) => ask.updates(tenant, 4)),
      ...peers(writtenByOthers.flatMap((tenant) => ask.updates(tenant, 4))),
    }),
    ...data.bySize.map((tenant) => alone(tenant, 1)),
    ...depths.map((depth) => alone(large, depth)),
  ]
  await keep(kept)
  return workloads
}

const inWords = (count: number): string => count.toLocaleString('en')

const unchanged = async (origin: string, one: Ask): Promise<Ask[]> => {
  const tag = entityTagOf(await responseTo(origin, one))
  return [{ ...one, headers: { 'If-None-Match': tag }, status: 304 }]
}

/** The limit is told where a page begins: to find that out is what lists cost, not what bytes cost. */
const storedPage = async ({ origins, positionOf }: Sources, tenant: Tenant, number: number): Promise<Ask[]> => {
  const { body } = await responseTo(origins.masthead, ask.page(tenant, number))
  return [ask.storedPage(tenant, number, await positionOf(tenant, JSON.parse(body).items[0].id))]
}

const alone = (tenant: Tenant, page: number): Workload => {
  const { rows } = tenant
  const asks = [ask.cold(ask.page(tenant, page))]
  const name = `one by one: page ${inWords(page)} of ${inWords(rows)}`
  return { name, connections: 1, asks: { masthead: asks, express: asks }, charted: { rows, page } }
}
