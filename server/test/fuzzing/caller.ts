import assert from 'node:assert/strict'
import { basePath } from '@masthead/contract'
import type { Traces } from '../records/stored-state.ts'
import { operationAt } from '../requests/contract-responses.ts'
import { type CallResponse, linksOf, type Service, type TestTenant } from '../service.ts'
import { type CanaryTenant, canariesIn, newCanaryTenant } from './canary-tenant.ts'
import type { FuzzedRequest } from './fuzzed-requests.ts'
import { assertWithinContract, type Sent } from './judgement.ts'
import { fill, poolOf } from './placeholders.ts'
import { Sender } from './sender.ts'
import { type Holder, newTokens, type Token } from './token-kinds.ts'
import { type Header, headersOf, type Wire, wireOf } from './wire.ts'

/** The traces of everything that is stored for a tenant. */
type Traced = (tenantId: string) => Promise<Traces>

const mostKnown = 200

/** Calls operations, one after another, for a tenant that nobody else writes to, and remembers what it was told. */
export class Caller {
  readonly tenant: TestTenant
  readonly #sender: Sender
  readonly #traced: Traced
  readonly #tokens: ReadonlyMap<string, Token>
  readonly #canaries: ReadonlyMap<string, string>
  readonly #known: Map<string, string[]>
  #traces: Traces | null = null

  private constructor(
    { origin }: Service,
    tenants: { own: CanaryTenant; theirs: CanaryTenant },
    tokens: ReadonlyMap<string, Token>,
    traced: Traced,
  ) {
    const { own, theirs } = tenants
    this.tenant = own.tenant
    this.#sender = new Sender(origin)
    this.#traced = traced
    this.#tokens = tokens
    this.#canaries = new Map([own, theirs].map(({ tenant, canary }) => [tenant.id, canary]))
    this.#known = new Map([
      ...[...own.names].map(([name, names]): [string, string[]] => [poolOf.own(name), [...names]]),
      ...[...theirs.names].map(([name, names]): [string, string[]] => [poolOf.theirs(name), [...names]]),
    ])
  }

  static async start(service: Service, theirs: CanaryTenant, traced: Traced): Promise<Caller> {
    const own = await newCanaryTenant(service)
    const tokens = await newTokens(service, own.tenant, theirs.tenant)
    return new Caller(service, { own, theirs }, tokens, traced)
  }

  close(): void {
    this.#sender.close()
  }

  /** Fails unless the answer is right and nothing is stored that it does not tell of. */
  async call(request: FuzzedRequest): Promise<CallResponse> {
    const { authorization, holder } = this.#authorized(request)
    const headers = [...authorization, ...request.headers]
    const wire = wireOf({ ...request, headers, target: basePath + request.path + request.query }, (text) =>
      fill(text, this.#known),
    )
    const sent = { ...sentBy(wire), holder }
    const before = this.#traces ?? (await this.#traced(this.tenant.id))
    this.#traces = null
    const answer = await this.#sender.send(wire, async (answer) => {
      assertWithinContract(sent, answer)
      const own = this.#canaries.get(holder?.tenantId ?? '')
      assert.ok(canariesIn(answer).every((one) => one === own))
      const after = await this.#traced(this.tenant.id)
      assertNothingElse(sent, answer, before, after)
      this.#traces = after
    })
    this.#remember(sent, answer)
    return answer
  }

  #authorized({ authorization }: FuzzedRequest): { authorization: Header[]; holder: Holder } {
    if (authorization === null) return { authorization: [], holder: null }
    if ('text' in authorization) return { authorization: [['authorization', authorization.text]], holder: null }
    const { text, holder } = this.#tokens.get(authorization.kind) ?? { text: '', holder: null }
    const isBearer = /^bearer +$/i.test(authorization.scheme)
    return { authorization: [['authorization', authorization.scheme + text]], holder: isBearer ? holder : null }
  }

  #remember({ method, path }: Sent, { headers, body }: CallResponse): void {
    const made = /[^/]+$/.exec(headers.get('location') ?? '')?.[0]
    const { resource } = operationAt(method, path) ?? {}
    if (resource) this.#note(poolOf.own(resource.name), made)
    this.#note('tags', headers.get('etag'))
    this.#note('cursors', /[?&]cursor=([\w-]+)/.exec(linksOf(headers).next ?? '')?.[1])
    this.#note('change-cursors', body?.cursor)
  }

  #note(pool: string, text: string | null | undefined): void {
    if (!text) return
    const known = this.#known.get(pool) ?? []
    this.#known.set(pool, known)
    known.push(text)
    if (known.length > mostKnown) known.shift()
  }
}

const sentBy = (wire: Wire): Omit<Sent, 'holder'> => ({
  method: wire.method,
  // Whatever else stands there, the path ends at these.
  path: wire.target.slice(basePath.length).replace(/[?#].*$/s, ''),
  requestId: headersOf(wire, 'x-request-id')
    .join(', ')
    .match(/^[A-Za-z0-9._-]{1,128}$/)?.[0],
  hasKey: headersOf(wire, 'idempotency-key').length > 0,
})

/** Only a write that succeeds may leave a trace; but under an idempotency key a refusal is kept too. */
const assertNothingElse = (
  { method, path, hasKey }: Sent,
  answer: CallResponse,
  before: Traces,
  after: Traces,
): void => {
  const isWrite = method !== 'GET' && method !== 'HEAD' && operationAt(method, path) !== undefined
  if (isWrite && answer.status < 300 && !answer.headers.has('idempotency-replayed')) return
  const mayKeep = method === 'POST' && hasKey
  assert.deepEqual({ ...after, ...(mayKeep && { idempotency_records: before.idempotency_records }) }, before)
}
