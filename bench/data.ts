import type pg from 'pg'
import { run, type Served } from './served.ts'

/** The records that the workloads ask for: in each tenant some contacts, and the accounts they belong to. */
export type Data = {
  small: Tenant
  large: Tenant
  /** The large one with 20,000 contacts at random, each of another account. */
  random: Tenant
  /** The e-mail address of a contact in the middle of the large one. */
  email: string
  /** From 1,000 contacts to 1,000,000. */
  bySize: Tenant[]
  mixed: Tenant[]
  /** Where Masthead writes, and where the peers and PostgreSQL alone do, whose writes no tally counts. */
  written: Tenant[]
  writtenByOthers: Tenant[]
}
export type Tenant = { slug: string; id: string; token: string; rows: number; contacts: Contact[] }
export type Contact = { id: string; accountId: string }

export const rareWord = 'Quagswagger'
export const randomCount = 20_000
/** Where the positions begin of what peers write. */
const firstOfOthers = 1_000_000_000

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name}-${n + 1}`)
const sizes: Record<string, number> = {
  small: 1_000,
  middle: 10_000,
  big: 100_000,
  large: 1_000_000,
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
  // What peers wrote in runs before has no body, so Masthead cannot list it.
  const ofOthers = tenants.filter(({ slug }) => slug.startsWith('others-')).map(({ id }) => id)
  await database.query('delete from contacts where tenant_id = any ($1) and position >= $2', [ofOthers, firstOfOthers])
  const all = new Map<string, Tenant>()
  for (const tenant of tenants) all.set(tenant.slug, await read(tenant))
  const named = (slug: string): Tenant => {
    const found = all.get(slug)
    if (!found) throw new Error(`the tenant ${slug} was not seeded`)
    return found
  }
  // A table of a peer would count positions itself, and has none of the columns that Masthead always gives.
  await database.query(`
    create schema if not exists bench;
    create sequence if not exists bench.positions start ${firstOfOthers};
    alter table contacts alter column position set default nextval('bench.positions'), alter column version set default 0,
      alter column class set default 0, alter column body set default ''`)
  const large = named('large')
  await copyForTunedPeer(database, large)
  await database.query('vacuum analyze')
  await database.query('checkpoint')
  return {
    small: named('small'),
    large,
    random: { ...large, contacts: await randomContacts(database, large) },
    email: await emailIn(database, large),
    bySize: ['small', 'middle', 'big', 'large'].map(named),
    mixed: numbered('mixed', 8).map(named),
    written: numbered('written', 16).map(named),
    writtenByOthers: numbered('others', 16).map(named),
  }
}

/** The large tenant once more, with the indexes of somebody who knows PostgreSQL well; kept, as it takes minutes. */
const copyForTunedPeer = async (database: pg.Client, { id }: Tenant): Promise<void> => {
  const { rows } = await database.query(`select to_regclass('bench.contacts') as found`)
  if (rows[0].found) return
  const searched = ['name', 'first_name', 'last_name', 'email', 'phone', 'phone2', 'title']
  const live = 'deleted_at is null and hide_contact is not true and subs_only is not true'
  await database.query(`
    begin;
    create table bench.contacts as select tenant_id, position, id, account_id, owner_id, name, first_name, last_name, phone,
      phone2, extension, hide_contact, subs_only, do_not_email, email, title, notes, deleted_at, created_at, updated_at,
      concat_ws(E'\\n', ${searched.join(', ')}) as search
    from contacts where tenant_id = '${id}';
    alter table bench.contacts add primary key (tenant_id, id);
    create index on bench.contacts (tenant_id, position) where ${live};
    create index on bench.contacts (tenant_id, account_id, position) where ${live};
    create index on bench.contacts using gin (search gin_trgm_ops) where ${live};
    commit`)
}

const randomContacts = async (database: pg.Client, { id }: Tenant): Promise<Contact[]> => {
  const text = `
    select id, account_id as "accountId"
    from (select distinct on (account_id) id, account_id from contacts where tenant_id = $1 and class = 0) as each
    order by random() limit $2`
  return (await database.query<Contact>(text, [id, randomCount])).rows
}

const emailIn = async (database: pg.Client, { id, rows }: Tenant): Promise<string> => {
  const text = `
    select email from contacts where tenant_id = $1 and class = 0 and position > $2 and email is not null
    order by position limit 1`
  return (await database.query(text, [id, rows / 2])).rows[0].email
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
