import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Api, customerApi, managementApi } from '@masthead/contract'
import { ConsoleBrowser } from '../browsers/console-session.ts'
import { newPerson } from '../browsers/oauth-browser.ts'
import { hostileBodies } from '../requests/hostile-bodies.ts'
import { callAt, startService } from '../service.ts'

const service = await startService()
const tenant = await service.newTenant()
const tokens = await new ConsoleBrowser(service.origin).signIn(await newPerson(service, [tenant, 'admin']))

const [smallBytes, largeBytes] = [16 * 1_024, 128 * 1_024]
/** Eight times the bytes take eight times as long, or less; what grows by the square takes 64 times as long. */
const mostGrowth = 24
const mostTries = 5
/** Less cannot be told apart: some systems count in steps. */
const leastMicroseconds = 1_000
/** Of a problem, whatever was sent. */
const mostBytes = 32 * 1_024

/** Processor time of this thread in microseconds, which others that keep the machine busy disturb little. */
const costOf = async (work: () => Promise<void>): Promise<number> => {
  const begun = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(begun)
  return user + system
}

for (const [api, token] of [
  [customerApi, tokens.customer],
  [managementApi, tokens.management],
] as [Api, string][])
  describe(`a hostile body to the ${api.basePath}`, () => {
    for (const { name, operation } of api.operations.filter(({ operation }) => operation.body))
      test(`costs ${name} no more than its size`, async () => {
        const path = `/${api.basePath}${operation.path.replaceAll(/\{\w+\}/g, 'x')}`
        const send = async (body: string): Promise<void> => {
          const { status, text } = await callAt(service.origin, operation.method, path, { token, body })
          assert.ok(status >= 400 && status < 500, `${status}: ${text.slice(0, 500)}`)
          assert.ok(text.length < mostBytes, `the problem has ${text.length} bytes`)
        }
        for (const { shape, property, body } of hostileBodies(operation.body ?? assert.fail())) {
          const [small, large] = [body(smallBytes), body(largeBytes)]
          let [least, most, tries] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0]
          do {
            least = Math.min(least, Math.max(leastMicroseconds, await costOf(() => send(small))))
            most = Math.min(most, await costOf(() => send(large)))
          } while (most > mostGrowth * least && ++tries < mostTries)
          assert.ok(most <= mostGrowth * least, `${shape} ${property}: ${least} and ${most} microseconds`)
        }
      })
  })
