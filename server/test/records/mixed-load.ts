import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { SeededRandom, type Weighted } from '../../src/transfer/demo/seeded-random.ts'
import { type Fetch, type Findings, WriteLedger, type Written } from './write-ledger.ts'

export type LoadTenant = { slug: string; token: string }

export type MixedLoadOptions = {
  /** Base addresses of the API, one a node: who cannot connect to one goes to the next, as behind a load balancer. */
  nodes: readonly string[]
  tenants: readonly LoadTenant[]
  /** Callers at a time. Each does one thing after the other. */
  callers: number
  /** Between two things that a caller does. */
  pauseMilliseconds: number
}

/** One request and what came of it. */
export type Attempt = {
  sentAt: number
  /** Null while it is in flight. */
  milliseconds: number | null
  node: string
  isWrite: boolean
  /** Null when there was no answer, but a broken connection. */
  status: number | null
  /** The code of a problem, or of an error of the connection. */
  code: string
  retryAfter: string | null
}

type Action = 'list' | 'get' | 'search' | 'create' | 'change' | 'delete' | 'restore' | 'open account'
type Sent = { method: string; path: string; body?: object; key?: string }
type Answered = { status: number; headers: Headers; body: Record<string, unknown> }

const actions: Weighted<Action> = [
  ['list', 20],
  ['get', 20],
  ['search', 5],
  ['create', 25],
  ['change', 15],
  ['delete', 5],
  ['restore', 3],
  ['open account', 7],
]
const longestAnswerMilliseconds = 30_000
const longestTrialMilliseconds = 120_000

/**
 * Callers of several tenants who read and write as well-behaved applications do: a write that was not answered, or with 503,
 * is sent again until it is, under the same key. Everything is kept, to be compared with what is there at the end.
 */
export class MixedLoad {
  readonly attempts: Attempt[] = []
  readonly ledger = new WriteLedger()
  readonly #options: MixedLoadOptions
  readonly #stopping = new AbortController()
  readonly #abandoned = new AbortController()
  #callers: Promise<void>[] = []

  constructor(options: MixedLoadOptions) {
    this.#options = options
  }

  start(): void {
    const { callers, tenants } = this.#options
    this.#callers = Array.from({ length: callers }, (_, number) => {
      const tenant = tenants[number % tenants.length]
      if (!tenant) throw new Error('there is no tenant to call as')
      return this.#call(tenant, new SeededRandom(number))
    })
  }

  /** Begins nothing more, and sends what is unanswered until it is answered. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#callers)
  }

  /** For a test that failed: nothing is sent any more. */
  [Symbol.dispose](): void {
    this.#stopping.abort()
    this.#abandoned.abort()
  }

  /** Once it has stopped. */
  compare(): Promise<Findings> {
    const fetch: Fetch = async (slug, path) => {
      const tenant = this.#options.tenants.find((one) => one.slug === slug)
      const answer = await this.#attempt(tenant?.token ?? '', { method: 'GET', path }, 0)
      const { status = 0, headers = new Headers(), body = {} } = answer ?? {}
      return { status, link: headers.get('link'), body: body as { items: []; total: 0 } } // a page of a list, as its status says
    }
    const slugs = this.#options.tenants.map(({ slug }) => slug)
    return this.ledger.compare(slugs, fetch)
  }

  async #call(tenant: LoadTenant, random: SeededRandom): Promise<void> {
    const { pauseMilliseconds } = this.#options
    const { signal } = this.#stopping
    const caller = new Caller(tenant.slug, random, this.ledger, (sent) => this.#send(tenant.token, sent, random))
    await delay((random.between(0, 100) / 100) * pauseMilliseconds, null, { signal }).catch(() => {})
    while (!signal.aborted) {
      await caller.act()
      await delay(pauseMilliseconds * (0.5 + random.between(0, 100) / 100), null, { signal }).catch(() => {})
    }
  }

  /** Reads once, and writes until there is an answer other than "not now"; null when there is none. */
  async #send(token: string, sent: Sent, random: SeededRandom): Promise<Answered | null> {
    const deadline = performance.now() + longestTrialMilliseconds
    for (let node = random.between(0, 7); ; ) {
      const answer = await this.#attempt(token, sent, node)
      const isPassing = answer === null || answer.status === 503 || answer.body.code === 'request_in_progress'
      const isOver = this.#abandoned.signal.aborted || performance.now() > deadline
      if (!isPassing || isOver || sent.method === 'GET') return answer
      if (answer === null) node++
      const seconds = Number(answer?.headers.get('retry-after') ?? 0)
      await delay(Math.max(50, seconds * 1_000 * (0.5 + random.between(0, 100) / 100)))
    }
  }

  async #attempt(token: string, { method, path, body, key }: Sent, nodeNumber: number): Promise<Answered | null> {
    const { nodes } = this.#options
    const node = nodes[nodeNumber % nodes.length] ?? ''
    const sentAt = performance.now()
    const attempt: Attempt = {
      sentAt,
      milliseconds: null,
      node,
      isWrite: method !== 'GET',
      status: null,
      code: '',
      retryAfter: null,
    }
    this.attempts.push(attempt)
    try {
      const response = await fetch(node + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(longestAnswerMilliseconds), this.#abandoned.signal]),
      })
      const answer = { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
      attempt.status = response.status
      attempt.code = response.ok ? '' : String(answer.body.code)
      attempt.retryAfter = response.headers.get('retry-after')
      return answer
    } catch (error) {
      attempt.code = codeOf(error)
      return null
    } finally {
      attempt.milliseconds = performance.now() - sentAt
    }
  }
}

const codeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause ? String(cause.code) : cause.name
}

/** What one caller does, on records of its own, so that it knows the state of each. */
class Caller {
  readonly #tenant: string
  readonly #random: SeededRandom
  readonly #ledger: WriteLedger
  readonly #send: (sent: Sent) => Promise<Answered | null>
  readonly #contacts: Written[] = []
  #accountId: string | null = null

  constructor(
    tenant: string,
    random: SeededRandom,
    ledger: WriteLedger,
    send: (sent: Sent) => Promise<Answered | null>,
  ) {
    this.#tenant = tenant
    this.#random = random
    this.#ledger = ledger
    this.#send = send
  }

  async act(): Promise<void> {
    const action = this.#random.weighted(actions)
    const contact = this.#contacts.length > 0 ? this.#random.pick(this.#contacts) : null
    if (this.#accountId === null || action === 'open account') await this.#openAccount()
    else if (action === 'list') await this.#get(`/contacts?pageSize=50&page=${this.#random.between(1, 5)}`)
    else if (action === 'search') await this.#get(`/contacts?search=${this.#random.digits('##')}`)
    else if (action === 'create' || contact === null) await this.#create(this.#accountId)
    else if (action === 'get') await this.#get(`/contacts/${contact.id}`)
    else if (action === 'restore') await this.#restore(contact)
    else if (contact.deleted) await this.#restore(contact)
    else if (action === 'delete') await this.#delete(contact)
    else await this.#change(contact, this.#accountId)
  }

  async #get(path: string): Promise<void> {
    await this.#send({ method: 'GET', path })
  }

  async #openAccount(): Promise<void> {
    const marker = randomUUID()
    const written = this.#begin('accounts', marker)
    const sent = { method: 'POST', path: '/accounts', body: { company: marker }, key: marker }
    const answer = await this.#send(sent)
    if (answer?.status !== 201) return
    written.id = String(answer.body.accountId)
    written.settled = true
    this.#accountId = written.id
    if (this.#random.chance(20)) await this.#sendAgain(sent, written)
  }

  async #create(accountId: string): Promise<void> {
    const marker = randomUUID()
    const written = this.#begin('contacts', marker)
    written.subsOnly = this.#random.chance(20)
    const { name, subsOnly } = written
    const sent = {
      method: 'POST',
      path: '/contacts',
      body: { accountId, name, subsOnly, title: marker },
      key: marker,
    }
    const answer = await this.#send(sent)
    if (answer?.status !== 201) return
    written.id = String(answer.body.id)
    written.settled = true
    this.#contacts.push(written)
    if (this.#random.chance(20)) await this.#sendAgain(sent, written)
  }

  /** As one whose answer was lost on its way would: it must be answered as before. */
  async #sendAgain(sent: Sent, written: Written): Promise<void> {
    const answer = await this.#send(sent)
    if (answer?.status === 201 && [answer.body.id, answer.body.accountId].includes(written.id)) return
    // Compared at the end, it differs from what is there.
    written.id = `${written.id}, and then ${answer?.status} ${answer?.body.id}`
  }

  async #change(contact: Written, accountId: string): Promise<void> {
    const name = this.#random.digits('Name ########')
    await this.#settle(contact, { method: 'PATCH', path: `/contacts/${contact.id}`, body: { accountId, name } }, () => {
      contact.name = name
    })
  }

  async #delete(contact: Written): Promise<void> {
    await this.#settle(contact, { method: 'DELETE', path: `/contacts/${contact.id}` }, () => {
      contact.deleted = true
    })
  }

  async #restore(contact: Written): Promise<void> {
    const sent = { method: 'POST', path: `/contacts/${contact.id}/restore`, key: randomUUID() }
    await this.#settle(contact, sent, () => {
      contact.deleted = false
    })
  }

  async #settle(contact: Written, sent: Sent, onAnswer: () => void): Promise<void> {
    contact.settled = false
    const answer = await this.#send(sent)
    if (answer?.status !== 200) return
    onAnswer()
    contact.settled = true
  }

  #begin(resource: Written['resource'], marker: string): Written {
    const name = resource === 'accounts' ? marker : this.#random.digits('Name ########')
    const state = { id: null, name, subsOnly: false, deleted: false, settled: false }
    return this.#ledger.add({ tenant: this.#tenant, marker, resource, ...state })
  }
}
