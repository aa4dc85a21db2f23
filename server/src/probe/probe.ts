import type { Database } from '../database/database.ts'
import { newId } from '../records/identifiers.ts'
import { makeCanary, newMark, newTwins, removeCanaries } from './canaries.ts'
import { makeTokens } from './canary-tokens.ts'
import { callOwn, type Encounter, isOfService, probeOther } from './encounter.ts'
import { liveService } from './live-service.ts'
import { probeTables, withProbeLock } from './queries.ts'
import { type ProbeReport, Report } from './report.ts'
import { planOf } from './requests.ts'

type ProbeOptions = {
  url: string
  /** The secret of the installation; null where an issuer outside gives delegated tokens. */
  secret: (() => Promise<string>) | null
  signal: AbortSignal
  onProgress: (done: number, of: number, requests: number) => void
}

/** It begins what goes on after the probe. What it reads are lists, and what it makes is read like the exports of the canaries. */
export const leftAlone: readonly string[] = ['CreateExport']

/** Makes two tenants, has each reach for what is the other's in every way it can, and removes them. */
export const probe = async (database: Database, options: ProbeOptions): Promise<ProbeReport> => {
  const service = liveService(options.url, options.signal)
  const operations = (await service.operations()).filter(({ name }) => !leftAlone.includes(name))
  const { issuer, audience } = await service.resource()
  const issuing = options.secret && { issuer, audience, secret: await options.secret() }
  const report = new Report()
  if (!issuing) report.notes.push('delegated tokens are not probed: the issuer of AUTH_ISSUER gives them')
  const twins = newTwins()
  const word = `probe-${newMark()}`
  const plans = operations.map((operation) => planOf(operation, twins, word))
  for (const plan of plans) {
    if (plan.unknown.length > 0) report.addNotProbed(plan, `the probe cannot fill in ${plan.unknown.join(', ')}`)
  }
  await database.forTenant(newId()).inBulk((client) =>
    withProbeLock(client, async () => {
      await removeCanaries(database)
      try {
        // Of different sizes, so that a total tells whose records it counts.
        const canaries = [await makeCanary(database, twins, 1), await makeCanary(database, twins, 2)] as const
        const tokens = await database.transaction((query) => makeTokens(query, canaries, issuing))
        const common = { database, service, report, plans, word, tokens, observed: new Map(), ...options }
        const [one, two] = canaries
        const there: Encounter = { ...common, own: one, other: two }
        const back: Encounter = { ...common, own: two, other: one }
        report.addTables(await probeTables(database, one.id, two.id))
        await callOwn(there)
        await callOwn(back)
        await probeOther(there, () => true)
        // Of two rows where one should be, the first one shows: whose that is differs by the direction, not by the token.
        await probeOther(back, isOfService)
      } finally {
        await removeCanaries(database)
      }
    }),
  )
  return report.summary(options.url)
}
