import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, type TestContext, test } from 'node:test'
import { basePath, exportJobs, operations } from '@masthead/contract'
import fc from 'fast-check'
import pg from 'pg'
import { Caller } from './test/fuzzing/caller.ts'
import { newCanaryTenant } from './test/fuzzing/canary-tenant.ts'
import { fuzzedBytes, smuggled } from './test/fuzzing/fuzzed-bytes.ts'
import { fuzzedRequest } from './test/fuzzing/fuzzed-requests.ts'
import { fuzzedVisit } from './test/fuzzing/fuzzed-visits.ts'
import { exchangeBytes } from './test/fuzzing/stranger.ts'
import { Visitor } from './test/fuzzing/visitor.ts'
import { quoted } from './test/fuzzing/wire.ts'
import { attachTo } from './test/outside/webhook-receiver.ts'
import { storedStateIn, tracesIn } from './test/records/stored-state.ts'
import { assertTallies } from './test/records/tallies.ts'
import { startService } from './test/service.ts'

/** Another at each run. The one that a failure printed brings it back: `FUZZ_SEED=… npm test`. */
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
/** For long runs by hand. */
const times = Number(process.env.FUZZ_TIMES ?? 1)

const service = await startService()
const { owner, origin } = service
const observers = new pg.Pool({ connectionString: service.connectionString, max: 4 })
after(() => observers.end())
const traced = await tracesIn(observers)
const storedState = await storedStateIn(owner)
const theirs = await newCanaryTenant(service)

/** Lets every one of these try its share of the attempts, one after another, all of them at once. */
const fuzz = async <A, T>(
  t: TestContext,
  count: number,
  arbitrary: fc.Arbitrary<T>,
  actors: readonly A[],
  attempt: (actor: A, given: T) => Promise<void>,
): Promise<void> => {
  t.diagnostic(`FUZZ_SEED=${seed}`)
  const numRuns = Math.ceil((count * times) / actors.length)
  await Promise.all(
    actors.map((actor, index) =>
      fc.assert(
        fc.asyncProperty(arbitrary, (given) => attempt(actor, given)),
        { seed: seed + index, numRuns },
      ),
    ),
  )
}

const several = async <A>(count: number, start: () => Promise<A>): Promise<A[]> => {
  const actors: A[] = []
  // Not at once: their users would be taken for one who guesses passwords.
  while (actors.length < count) actors.push(await start())
  return actors
}

test('no request makes an operation fail, break the contract, show what is another’s or store what it refuses', async (t) => {
  const callers = await several(6, () => Caller.start(service, theirs, traced))
  const [first] = callers
  if (first) await attachTo(service, first.tenant, { url: 'http://127.0.0.1:1/', secret: '' })
  const tenantIds = callers.map(({ tenant }) => tenant.id)
  const before = await storedState(tenantIds)
  const outcomes = new Map<string, number>()
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  await fuzz(t, 10_000, fuzzedRequest, callers, async (caller, request) => {
    const { status } = await caller.call(request)
    count(request.operation)
    count(`${request.operation} ${status}`)
  })
  for (const caller of callers) caller.close()
  assert.deepEqual(await storedState(tenantIds), before)
  await assertTallies(owner)
  t.diagnostic(JSON.stringify(Object.fromEntries([...outcomes].sort())))
  // Had they all been refused for the same reason, nothing would have been tried.
  for (const { name, operation, resource } of operations) {
    const [all = 0, good = 0] = [outcomes.get(name), outcomes.get(`${name} ${operation.status}`)]
    // Bodies are not made for exports, so that none is begun here: they are only refused.
    const isTried = resource.name === exportJobs.name || good > all / 20
    assert.ok(all > 200 && isTried, `${good} of ${all} requests for ${name} succeeded`)
  }
})

test('no visit makes the authorization server fail, lead astray or show what is another’s', async (t) => {
  const visitors = await several(4, () => Visitor.start(service, theirs))
  /** But for what signing in and consenting leave behind. */
  const lasting = async () =>
    Object.entries(await storedState())
      .filter(([table]) => !/^(authorization_state|consents|identity_revision|sign_in_failures|audit_\w+)$/.test(table))
      .sort()
  const before = await lasting()
  const outcomes = new Map<number, number>()
  await fuzz(t, 3_000, fuzzedVisit, visitors, async (visitor, visit) => {
    const { status } = await visitor.visit(visit)
    outcomes.set(status, (outcomes.get(status) ?? 0) + 1)
  })
  for (const visitor of visitors) visitor.close()
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)))
  assert.deepEqual(await lasting(), before)
  const { rows } = await owner.query('select from consents where tenant_id = $1', [theirs.tenant.id])
  assert.equal(rows.length, 0)
})

test('no bytes make the service fail, hang or take a part of a request for another one', async (t) => {
  const strangers = await several(16, async () => {
    const { id: tenantId, serviceToken } = await service.newTenant()
    const token = await serviceToken()
    return { tenantId, token, before: await traced(tenantId) }
  })
  await fuzz(t, 400, fuzzedBytes, strangers, async ({ tenantId, token, before }, bytes) => {
    const body = JSON.stringify({ company: 'Smuggler' })
    const head = `POST ${basePath}/accounts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`
    const hidden = `${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const sent = Buffer.from(bytes.replace(smuggled, hidden), 'latin1')
    const heard = await exchangeBytes(origin, sent)
    const shown = `${quoted(sent)} → ${quoted(heard)}`
    assert.match(heard, /^(HTTP\/1\.1 |$)/, shown)
    for (const [, status] of heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)) assert.ok(Number(status) < 500, shown)
    assert.deepEqual(await traced(tenantId), before, shown)
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200, shown)
  })
})
