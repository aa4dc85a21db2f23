import type { Database } from '../database/database.ts'
import { isUuid, newId } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { type Canary, newMark } from './canaries.ts'
import type { CanaryToken } from './canary-tokens.ts'
import { difference, foreignIn } from './judgement.ts'
import type { LiveService, ServiceResponse } from './live-service.ts'
import { digestRows } from './queries.ts'
import { kinds, type Report } from './report.ts'
import { attemptsOf, type Filling, type Observed, type Plan } from './requests.ts'

/** One tenant that calls, and another whose records it must not reach. */
export type Encounter = {
  own: Canary
  other: Canary
  database: Database
  service: LiveService
  report: Report
  plans: readonly Plan[]
  word: string
  tokens: ReadonlyMap<Canary, readonly CanaryToken[]>
  /** What responses gave to each tenant, by tenant, kind of token and operation. */
  observed: Map<string, Observed>
  signal: AbortSignal
  onProgress: (done: number, of: number, requests: number) => void
}

const requestsAtOnce = 10
const isRead = ({ operation }: Plan): boolean => operation.method === 'GET'
const isWrite = (plan: Plan): boolean => !isRead(plan)
export const isOfService = ({ kind }: CanaryToken): boolean => kind === 'service'
const isUsable = ({ kind }: CanaryToken): boolean => kinds.some((one) => one === kind)

/** Every kind of token calls every operation on its own records, which must work and leaves traces for the other to find. */
export const callOwn = (encounter: Encounter): Promise<void> =>
  forEachCall(encounter, isWrite, isUsable, (plan, token) => callPlainly(encounter, plan, token))

/** `own` reaches for records of `other`, by all its tokens or some, and must leave them unchanged. */
export const probeOther = async (encounter: Encounter, includesToken: (token: CanaryToken) => boolean) => {
  const opposite = { ...encounter, own: encounter.other, other: encounter.own }
  await forEachCall(opposite, isRead, isOfService, (plan, token) => callPlainly(opposite, plan, token))
  const before = await viewOf(opposite)
  // Writes come last, because they change the lists by which responses are compared.
  for (const some of [isRead, isWrite]) {
    await forEachCall(encounter, some, includesToken, (plan, token) => reach(encounter, plan, token))
  }
  const after = await viewOf(opposite)
  for (const [index, { text, ...place }] of before.entries())
    if (after[index]?.text !== text) encounter.report.addChange(place)
}

const forEachCall = async (
  { plans, report, tokens, own, signal, onProgress }: Encounter,
  includesPlan: (plan: Plan) => boolean,
  includesToken: (token: CanaryToken) => boolean,
  call: (plan: Plan, token: CanaryToken) => Promise<void>,
): Promise<void> => {
  const calls = plans
    .filter((plan) => plan.unknown.length === 0 && includesPlan(plan))
    .flatMap((plan) => (tokens.get(own) ?? []).filter(includesToken).map((token) => [plan, token] as const))
  const waiting = calls.values()
  let done = 0
  const work = async () => {
    for (const [plan, token] of waiting) {
      signal.throwIfAborted()
      await call(plan, token)
      onProgress(++done, calls.length, report.requests)
    }
  }
  // Every call must have ended before the canaries are removed.
  const lanes = await Promise.allSettled(Array.from({ length: requestsAtOnce }, work))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
}

/** Sends a request and reports what its response leaks. Returns null when the service failed. */
const send = async (
  { service, report, own, other, word }: Encounter,
  plan: Plan,
  token: CanaryToken,
  filling: Filling,
): Promise<ServiceResponse | null> => {
  report.count(plan, token)
  const response = await service.send(plan.operation, filling, token.secret)
  if (response.status >= 500) {
    report.addNotProbed(plan, `the service failed with ${response.status} (request ${response.requestId})`)
    return null
  }
  const seen = foreignIn(response, own, other, word)
  if (seen) report.addLeak(plan, token, response, seen)
  return response
}

const expectedStatus = ({ operation }: Plan, { opens }: CanaryToken): number =>
  opens === null ? 401 : operation.scopes.some(opens) ? operation.status : 403

/** Sends the plain request with a token that opens it, which must work, and stores what the response gave. */
const callPlainly = async (encounter: Encounter, plan: Plan, token: CanaryToken): Promise<void> => {
  const { own, service, report } = encounter
  if (token.opens === null || !plan.operation.scopes.some(token.opens)) return
  const key = plan.headers.has('Idempotency-Key') ? `probe-${newId()}` : undefined
  const headers = key === undefined ? {} : { 'Idempotency-Key': key }
  const response = await send(encounter, plan, token, { ...plan.plain, headers })
  if (!response) return
  if (response.status === 401 && isOfService(token)) {
    throw new Refusal(
      `the service at ${service.url} does not know the canaries: it uses another database; give this command the DATABASE_URL or MASTHEAD_DATA_DIR of the service`,
    )
  }
  if (!isExpected(encounter, plan, token, response)) return
  const { id } = Object(response.body)
  if (isWrite(plan) && plan.operation.status === 201 && isUuid(String(id))) own.ids.add(String(id))
  const cursor = plan.cursorName === null ? undefined : await cursorOf(encounter, plan, token, response)
  if (plan.cursorName !== null && cursor === undefined) report.addNotProbed(plan, 'its list gave no cursor')
  encounter.observed.set(observedKey(own, plan, token), { tag: response.headers.get('etag'), cursor, key })
}

/** A cursor stands in the response, or in the link to the next page of a list of pages as short as can be. */
const cursorOf = async (
  encounter: Encounter,
  plan: Plan,
  token: CanaryToken,
  { body }: ServiceResponse,
): Promise<string | undefined> => {
  const { cursor } = Object(body)
  if (typeof cursor === 'string') return cursor
  const first = await send(encounter, plan, token, { ...plan.plain, query: { pageSize: '1' } })
  return /[?&]cursor=([\w-]+)/.exec(first?.headers.get('link') ?? '')?.[1]
}

/** Reads do not depend on the token, but an idempotency key belongs to its sender. */
const observedKey = ({ id }: Canary, plan: Plan, { kind }: CanaryToken): string =>
  [id, plan.operation.name, isRead(plan) ? '' : kind].join(' ')

const isExpected = ({ report }: Encounter, plan: Plan, token: CanaryToken, response: ServiceResponse): boolean => {
  const expected = expectedStatus(plan, token)
  if (response.status === expected) return expected < 300
  const what = `${response.status} ${Object(response.body).code ?? ''} instead of ${expected}, with the token ${token.kind}`
  report.addNotProbed(plan, `its own record was answered with ${what} (request ${response.requestId})`)
  return false
}

const reach = async (encounter: Encounter, plan: Plan, token: CanaryToken): Promise<void> => {
  const { report, other, observed } = encounter
  const attempts = attemptsOf(plan, other, observed.get(observedKey(other, plan, token)) ?? {}, newMark())
  const expected = expectedStatus(plan, token)
  if (expected >= 300) {
    const response = await send(encounter, plan, token, attempts[0]?.theirs[0] ?? plan.plain)
    if (!response || response.status === expected) return
    const seen = `a token that must be refused with ${expected} is answered with ${response.status}`
    return report.addLeak(plan, token, response, seen)
  }
  if (!isUsable(token)) return
  for (const filling of [plan.plain, ...plan.further]) {
    const response = await send(encounter, plan, token, filling)
    if (response) isExpected(encounter, plan, token, response)
  }
  for (const { theirs, nowhere } of attempts) {
    const standard = await send(encounter, plan, token, nowhere)
    for (const filling of theirs) {
      if (!standard) return
      const response = await send(encounter, plan, token, filling)
      const seen = response && difference(response, standard)
      if (seen) report.addLeak(plan, token, response, seen)
    }
  }
}

/** Everything that a tenant has: the responses of its reads, and its rows. */
const viewOf = async (encounter: Encounter) => {
  const { own, database, plans, tokens } = encounter
  const token = tokens.get(own)?.find(isOfService)
  const view: { operation?: string; table?: string; text: string }[] = []
  for (const plan of plans.filter((one) => one.unknown.length === 0 && isRead(one))) {
    const headers = { 'Cache-Control': 'no-cache' }
    const response = token && (await send(encounter, plan, token, { ...plan.plain, headers }))
    view.push({ operation: plan.operation.name, text: response?.text ?? '' })
  }
  for (const [table, text] of await digestRows(database.forTenant(own.id))) view.push({ table, text })
  return view
}
