import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { ConsoleBrowser, manage } from '../../test/browsers/console-session.ts'
import { newPerson } from '../../test/browsers/oauth-browser.ts'
import { childrenOf } from '../../test/failover/programs.ts'
import { postmasterOf, runMasthead, temporaryDataDirectory, until } from '../../test/processes/masthead-process.ts'
import { makeStandby } from '../../test/processes/standby.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { cloneTemplate, secret, startService } from '../../test/service.ts'
import type { Finding } from '../doctor/finding.ts'
import { exportRecords } from '../transfer/export/export.ts'
import { openEmbedded } from './embedded/server.ts'
import { migrate } from './schema/migrate.ts'

const [data, copy] = [await temporaryDataDirectory(), await temporaryDataDirectory()]
const first = await openEmbedded(data)
await migrate(first.connectionString)
await first.close()
await makeStandby(data, copy, first.connectionString)
const primary = await openEmbedded(data)
const standby = await openEmbedded(copy)
after(async () => {
  await standby.close()
  await primary.close()
})

const service = await startService({
  connectionString: primary.connectionString,
  replicas: [standby.connectionString],
})
const tenant = await service.newTenant()
const other = await service.newTenant()
const [token, otherToken] = [await tenant.serviceToken(), await other.serviceToken()]
for (const { add } of [tenant, other]) {
  await add('accounts', [sampleAccount('R-1')])
  await add('contacts', [sampleContact('R-1'), sampleContact('R-1')])
}

const onStandby = new pg.Client(standby.connectionString)
onStandby.on('error', () => {})
await onStandby.connect()
after(() => onStandby.end())

/** Not from the cache. */
const list = (by = token) => service.call('GET', '/contacts', { token: by, headers: { 'cache-control': 'no-cache' } })
const reads = () => service.database.replicas()[0]?.reads ?? { answered: 0, behind: 0, failed: 0 }

/** Reads until the replica answers, as it does when it has caught up. */
const untilUsed = (by = token) =>
  until('the replica answers', async () => {
    const before = reads().answered
    assert.equal((await list(by)).body.total, 2)
    return reads().answered > before
  })

const delayBy = async (milliseconds: number) => {
  await onStandby.query(`alter system set recovery_min_apply_delay = ${milliseconds}`)
  await onStandby.query('select pg_reload_conf()')
}

describe('a replica', () => {
  test('is found well by the doctor when it has everything', async () => {
    const environment = {
      DATABASE_URL: service.connectionString,
      DATABASE_REPLICA_URLS: standby.connectionString,
      MASTHEAD_SECRET: secret,
    }
    await until('it has everything', async () => {
      const { stdout } = await runMasthead(['doctor', '--json'], environment)
      const { findings }: { findings: Finding[] } = JSON.parse(stdout)
      return findings.some(
        ({ check, status, found }) => check === 'replicas' && status === 'ok' && /has every/.test(found),
      )
    })
  })

  test('answers reads once it has what the primary has, and ready says so', async () => {
    await untilUsed()
    const { body } = await service.call('GET', '//readyz')
    assert.deepEqual(
      body.replicas.map(({ state }: { state: string }) => state),
      ['in use'],
    )
  })

  test('that is late shows nobody less than was answered before, and answers others', async () => {
    await untilUsed(otherToken)
    await delayBy(5_000)
    for (let round = 0; round < 20; round++) {
      const body = { accountId: 'R-1', name: `Late ${round}` }
      const created = await service.call('POST', '/contacts', { token, body })
      const path = `/contacts/${created.body.id}`
      const found = await service.call('GET', path, { token })
      assert.equal(found.body.name, body.name)
      assert.equal((await list()).body.total, 3)
      assert.equal((await service.call('GET', `/contacts?search=late+${round}`, { token })).body.total, 1)
      const patched = await service.call('PATCH', path, { token, body: { accountId: 'R-1', name: 'Later' } })
      assert.equal(patched.status, 200)
      assert.equal((await service.call('GET', path, { token })).body.name, 'Later')
      assert.equal((await service.call('DELETE', path, { token })).status, 200)
      assert.equal((await list()).body.total, 2)
    }
    assert.ok(reads().behind > 0)
    await untilUsed(otherToken)
    await delayBy(0)
    await untilUsed()
  })

  test('is not asked for what has no version, such as the files that the console sends', async () => {
    const { management } = await new ConsoleBrowser(service.origin).signIn(await newPerson(service, [other, 'admin']))
    const manageAs = (method: string, path: string, body?: object) =>
      manage(service.origin, method, path, { token: management, ...(body && { body }) })
    await untilUsed(otherToken)
    await delayBy(5_000)
    const { body } = await manageAs('POST', '/import-runs', { fileName: 'contacts.csv', resource: 'contacts' })
    assert.equal((await manageAs('GET', `/import-runs/${body.id}`)).status, 200)
    await delayBy(0)
  })

  test('answers the overview', async () => {
    const { management } = await new ConsoleBrowser(service.origin).signIn(await newPerson(service, [other, 'admin']))
    await untilUsed(otherToken)
    const { answered } = reads()
    const overview = await manage(service.origin, 'GET', '/overview', { token: management })
    assert.equal(overview.status, 200)
    assert.ok(reads().answered >= answered + 4)
  })

  test('is exported from, and the export is done anew on the primary when the replica fails', async () => {
    await untilUsed()
    const asked = (await service.database.forTenant(tenant.id).asOfNow()).inBulk
    const servers: boolean[] = []
    const note = async (client: pg.Client) => {
      const { rows } = await client.query('select pg_is_in_recovery() as replica, pg_backend_pid() as pid')
      servers.push(rows[0].replica)
      return rows[0]
    }
    assert.equal((await asked(note)).replica, true)
    // As PostgreSQL ends what hinders a replica from going on.
    await asked(async (client) => {
      if ((await note(client)).replica) throw Object.assign(new Error('conflict with recovery'), { code: '40001' })
    })
    await asked(async (client) => {
      const { replica, pid } = await note(client)
      if (replica) await onStandby.query('select pg_terminate_backend($1)', [pid])
      await client.query('select 1')
    })
    assert.deepEqual(servers, [true, true, false, true, false])
    await untilUsed()
    await assert.rejects(
      asked(async (client) => {
        await note(client)
        throw new Error('the disk is full')
      }),
      /the disk is full/,
    )
    assert.deepEqual(servers.slice(5), [true])
  })

  test('that lacks a write is not exported from', async () => {
    await untilUsed()
    await delayBy(5_000)
    const { body } = await service.call('POST', '/contacts', { token, body: { accountId: 'R-1', name: 'Late' } })
    const folder = await temporaryDataDirectory()
    const request = { folder, format: 'ndjson', gzip: false, spreadsheet: false, replace: false } as const
    await exportRecords(service.database.forTenant(tenant.id), {
      ...request,
      signal: AbortSignal.timeout(60_000),
      onProgress: () => {},
    })
    assert.match(await readFile(join(folder, 'contacts.ndjson'), 'utf8'), new RegExp(body.id))
    await service.call('DELETE', `/contacts/${body.id}`, { token })
    await delayBy(0)
    await untilUsed()
  })

  test('of another source is not asked', async () => {
    const { behind } = reads()
    const elsewhere = service.database.forTenant(tenant.id).asOf({ versions: '{}', source: 'elsewhere' })
    const text = 'select pg_is_in_recovery() as replica where current_tenant() = $1'
    assert.deepEqual(await elsewhere.read({ text }), [{ replica: false }])
    assert.equal(reads().behind, behind + 1)
    await untilUsed()
  })

  test('that hangs is left, and used again when it is back', async () => {
    const postmaster = postmasterOf(copy)
    assert.ok(postmaster)
    const signal = (name: 'SIGSTOP' | 'SIGCONT') =>
      [postmaster, ...childrenOf(postmaster)].map((pid) => process.kill(pid, name))
    const { inBulk } = await service.database.forTenant(tenant.id).asOfNow()
    const exported = inBulk(async (client) => {
      const { rows } = await client.query('select pg_is_in_recovery() as replica')
      if (!rows[0].replica) return 'on the primary'
      signal('SIGSTOP')
      await client.query('select 1')
      return 'on the replica'
    })
    try {
      assert.equal(await exported, 'on the primary')
      for (let round = 0; round < 5; round++) assert.equal((await list()).body.total, 2)
      assert.ok(reads().failed > 0)
      assert.equal(service.database.replicas()[0]?.state, 'away')
    } finally {
      signal('SIGCONT')
    }
    await untilUsed()
  })

  test('that is promoted is no longer asked', async () => {
    await onStandby.query('select pg_promote()')
    const { answered, behind } = reads()
    await until('it is left', async () => {
      assert.equal((await list()).body.total, 2)
      return reads().behind > behind
    })
    assert.equal(reads().answered, answered)
  })
})

test('a server of another installation is not taken for a replica', async () => {
  const connectionString = await cloneTemplate()
  const lonely = await startService({ connectionString, replicas: [primary.connectionString] })
  const { serviceToken } = await lonely.newTenant()
  const answer = await lonely.call('GET', '/contacts', { token: await serviceToken() })
  assert.equal(answer.body.total, 0)
  assert.deepEqual(
    lonely.database.replicas().map(({ reads }) => reads),
    [{ answered: 0, behind: 0, failed: 1 }],
  )
})
