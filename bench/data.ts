import type pg from 'pg'
import { run, type Served } from './served.ts'

/** The records that the workloads ask for: in each tenant some contacts, and the accounts they belong to. */
export type Data = {
  small: Tenant
  large: Tenant
  /** From 1,000 contacts to 1,000,000. */
  bySize: Tenant[]
  mixed: Tenant[]
  /** Where Masthead writes, and where the peer and PostgreSQL alone do, whose writes no tally counts. */
  written: Tenant[]
  writtenByOthers: Tenant[]
}
export type Tenant = { slug: string; id: string; token: string; rows: number; contacts: Contact[] }
export type Contact = { id: string; accountId: string }

export const rareWord = 'Quagswagger'

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name}-${n + 1}`)
const sizes: Record<string, number> = {
  ...{ small: 1_000, middle: 10_000, big: 100_000, large: 1_000_000 },
  ...Object.fromEntries(numbered('mixed', 8).map((slug) => [slug, 1_000])),
  ...Object.fromEntries([...numbered('written', 16), ...numbered('others', 16)].map((slug) => [slug, 100])),
}

/** Seeded at the first run, which takes minutes, and kept. */
export const seed = (dataDirectory: string): SeededTenant[] =>
  JSON.parse(
    run(dataDirectory, 'node', [
      'server/test/records/seed-contacts.ts',
      ...Object.entries(sizes).map(([slug, count]) => `${slug}=${count}`),
    ]),
  )
type SeededTenant = { slug: string; id: string; token: string }

export const prepareData = async (tenants: SeededTenant[], served: Served, database: pg.Client): Promise<Data> => {
  const read = async ({ slug, id, token }: SeededTenant): Promise<Tenant> => {
    const call = caller(served, token)
    if (slug === 'large') await makeRareContact(call)
    // Not those of the first page, so that what is written there leaves it as it is.
    const { items } = await call('/contacts?page=2&pageSize=64')
    if (items.length < 16) throw new Error(`the tenant ${slug} has too few contacts`)
    return { slug, id, token, rows: sizes[slug] ?? 0, contacts: items.map(({ id, accountId }) => ({ id, accountId })) }
  }
  const all = new Map<string, Tenant>()
  for (const tenant of tenants) all.set(tenant.slug, await read(tenant))
  const named = (slug: string): Tenant => {
    const found = all.get(slug)
    if (!found) throw new Error(`the tenant ${slug} was not seeded`)
    return found
  }
  // A table of the peer would count positions itself, and has none of the columns that Masthead always gives.
  await database.query(`
    create schema if not exists bench;
    create sequence if not exists bench.positions start 1000000000;
    alter table contacts alter column position set default nextval('bench.positions'), alter column version set default 0,
      alter column class set default 0, alter column body set default ''`)
  await database.query('vacuum analyze')
  await database.query('checkpoint')
  return {
    small: named('small'),
    large: named('large'),
    bySize: ['small', 'middle', 'big', 'large'].map(named),
    mixed: numbered('mixed', 8).map(named),
    written: numbered('written', 16).map(named),
    writtenByOthers: numbered('others', 16).map(named),
  }
}

type Page = { items: Contact[]; total: number | null }
type Call = (path: string, body?: object) => Promise<Page>

const caller =
  ({ api }: Served, token: string): Call =>
  async (path, body) => {
    const response = await fetch(api + path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as Page // the lists that are asked for here
  }

const makeRareContact = async (call: Call): Promise<void> => {
  if ((await call(`/contacts?search=${rareWord}`)).total === 1) return
  const { items } = await call('/contacts?pageSize=1')
  await call('/contacts', { accountId: items[0]?.accountId, lastName: rareWord })
}
