import { setTimeout as delay } from 'node:timers/promises'

/** A contact or account that was asked for: what the service last said about it. */
export type Written = {
  tenant: string
  /** Stands in the record itself, and in no other. */
  marker: string
  resource: 'contacts' | 'accounts'
  /** Null while its creation has not been answered. */
  id: string | null
  name: string
  subsOnly: boolean
  deleted: boolean
  /** False while a change was sent and not answered: then either state may be there. */
  settled: boolean
}

type Item = {
  id: string
  accountId: string
  name?: string
  lastName?: string
  title?: string
  company?: string
  subsOnly?: boolean
  deletedAt?: string | null
}
type Page = { items: Item[]; total: number }

export type Fetched = { status: number; link: string | null; body: Page }
/** Gets a path below the base path of the API, as one tenant. */
export type Fetch = (tenant: string, path: string) => Promise<Fetched>

/** What differs between what was answered and what is there; nothing, if all is well. */
export type Findings = {
  /** Answered, and not there. */
  lost: string[]
  /** There more than once. */
  doubled: string[]
  /** There, but not in the state that was answered last. */
  different: string[]
  /** There, and nobody asked for it. */
  invented: string[]
  /** A total that is not the number of records. */
  miscounted: string[]
  /** Never answered, however often it was sent. */
  unanswered: string[]
}

const everything = 'pageSize=200&includeHidden=true&includeSubsOnly=true&includeDeleted=true'

/** All writes that were sent, each under a marker of its own, by their last answer. */
export class WriteLedger {
  readonly #written = new Map<string, Written>()

  add(written: Written): Written {
    this.#written.set(written.marker, written)
    return written
  }

  get size(): number {
    return this.#written.size
  }

  /** Of all that was created for a tenant. */
  idsOf(tenant: string): string[] {
    return [...this.#written.values()].flatMap((written) => (written.tenant === tenant ? (written.id ?? []) : []))
  }

  /** Walks every list, while nobody writes. */
  async compare(tenants: readonly string[], fetch: Fetch): Promise<Findings> {
    const findings: Findings = { lost: [], doubled: [], different: [], invented: [], miscounted: [], unanswered: [] }
    const seen = new Map<string, Item[]>()
    for (const tenant of tenants) {
      const contacts = await walk(fetch, tenant, `/contacts?${everything}`, findings)
      const visible = contacts.filter(({ subsOnly, deletedAt }) => !subsOnly && !deletedAt)
      const { body } = await fetch(tenant, '/contacts?pageSize=1')
      if (body.total !== visible.length)
        findings.miscounted.push(`${tenant}: ${body.total} instead of ${visible.length} visible contacts`)
      const accounts = await walk(fetch, tenant, '/accounts?pageSize=200', findings)
      for (const item of [...contacts, ...accounts]) {
        const marker = item.title ?? item.company ?? item.id
        seen.set(marker, [...(seen.get(marker) ?? []), item])
        if (!this.#written.has(marker)) findings.invented.push(`${tenant}: ${marker}`)
      }
    }
    for (const written of this.#written.values()) judge(written, seen.get(written.marker) ?? [], findings)
    return findings
  }
}

const judge = (written: Written, found: readonly Item[], findings: Findings): void => {
  const what = `${written.tenant}: ${written.resource} ${written.marker}`
  const [item, ...others] = found
  if (others.length > 0) findings.doubled.push(`${what} is there ${found.length} times`)
  if (!written.settled || written.id === null) findings.unanswered.push(what)
  if (written.id === null) return
  if (item === undefined) findings.lost.push(what)
  else if (idOf(written, item) !== written.id) findings.lost.push(`${what}: another one stands in its place`)
  else if (written.settled && (nameOf(item) !== written.name || Boolean(item.deletedAt) !== written.deleted))
    findings.different.push(`${what}: ${nameOf(item)}, deletedAt ${item.deletedAt}, instead of ${written.name}`)
}

const idOf = ({ resource }: Written, item: Item): string => (resource === 'accounts' ? item.accountId : item.id)
const nameOf = ({ name, company }: Item): string => name ?? company ?? ''

const walk = async (fetch: Fetch, tenant: string, path: string, { miscounted }: Findings): Promise<Item[]> => {
  const items: Item[] = []
  let total = 0
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: Fetched = await fetchPage(fetch, tenant, next)
    items.push(...page.body.items)
    total = page.body.total
    next = /<[^>]*?\/v1(\/[^>]+)>; rel="next"/.exec(page.link ?? '')?.[1]
  }
  if (total !== items.length) miscounted.push(`${tenant}: ${path} has ${items.length} records and says ${total}`)
  return items
}

const fetchPage = async (fetch: Fetch, tenant: string, path: string): Promise<Fetched> => {
  for (let attempt = 1; ; attempt++) {
    const page = await fetch(tenant, path)
    if (page.status === 200) return page
    if (attempt >= 20) throw new Error(`${path} answered ${page.status} twenty times`)
    await delay(500)
  }
}
