import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { consoleFor, operationNamed } from '../../test/browsers/console-caller.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { assertAnswers } from '../../test/requests/contract-responses.ts'
import { startService } from '../../test/service.ts'

const service = await startService()
const tenant = await service.newTenant('Acme')
const stranger = await service.newTenant('Zenith')
const consoleOf = consoleFor(service)
const admin = await consoleOf([tenant, 'admin'])

describe('an import', () => {
  const announce = async (fileName: string, resource: string, content: string) => {
    const run = await admin.call('POST', '/import-runs', { body: { fileName, resource } })
    assertAnswers(operationNamed('CreateImportRun'), run)
    const path = `/import-runs/${run.body.id}`
    const bytes = Buffer.from(content)
    for (let start = 0; start < bytes.length; start += 100) {
      const part = { number: start / 100 + 1, content: bytes.subarray(start, start + 100).toString('base64') }
      assertAnswers(operationNamed('AddImportPart'), await admin.call('POST', `${path}/parts`, { body: part }))
    }
    return path
  }
  const ended = async (path: string) => {
    let answer = await admin.call('GET', path)
    await until('the run ends', async () => {
      answer = await admin.call('GET', path)
      assertAnswers(operationNamed('GetImportRun'), answer)
      return answer.body.state !== 'running'
    })
    return answer.body
  }
  const accounts = `accountId,company
${Array.from({ length: 40 }, (_, index) => `IMP${index},Company ${index}`).join('\n')}
"a UUID would be refused, and so is a name that is too long ${'x'.repeat(60)}",Nobody
`
  const accountsWith = async (search: string) => {
    const token = await tenant.serviceToken()
    const headers = { 'cache-control': 'no-cache' }
    return (await service.call('GET', `/accounts?search=${search}`, { token, headers })).body.total
  }

  test('is checked, done, shown with its refused rows, and undone', async () => {
    const path = await announce('Our accounts.csv', 'accounts', accounts)
    assertAnswers(operationNamed('CheckImport'), await admin.call('POST', `${path}/check`))
    const checked = await ended(path)
    assert.deepEqual([checked.state, checked.created, checked.refused, checked.importId], ['checked', 40, 1, null])
    assert.equal(checked.refusals[0].column, 'accountId')
    assert.equal(await accountsWith('Company'), 0)

    assertAnswers(operationNamed('StartImport'), await admin.call('POST', `${path}/start`))
    const done = await ended(path)
    assert.deepEqual([done.state, done.created, done.refused, done.hasRejectedRows], ['done', 40, 1, true])
    assert.equal(await accountsWith('Company'), 40)
    const rejected = await admin.call('GET', `${path}/rejected-rows`)
    assertAnswers(operationNamed('GetRejectedRows'), rejected)
    assert.equal(rejected.body.fileName, 'Our accounts.csv.rejected.csv')
    assert.match(
      Buffer.from(rejected.body.content, 'base64').toString(),
      /^rejected_line,rejected_column,rejected_reason,accountId,company\n42,accountId,/,
    )
    assert.equal((await admin.call('POST', `${path}/start`)).body.code, 'conflict')

    const listed = await admin.call('GET', '/imports')
    assertAnswers(operationNamed('GetImports'), listed)
    const [newest] = listed.body.items
    assert.deepEqual([newest.id, newest.state, newest.files[0].file], [done.importId, 'done', 'Our accounts.csv'])
    const undo = await admin.call('POST', `/imports/${done.importId}/undo`)
    assertAnswers(operationNamed('UndoImport'), undo)
    const undone = await ended(`/import-runs/${undo.body.id}`)
    assert.deepEqual([undone.state, undone.removed, undone.kept], ['done', 40, 0])
    assert.equal(await accountsWith('Company'), 0)
    assert.equal((await admin.call('POST', `/imports/${done.importId}/undo`)).body.code, 'conflict')
    const { body } = await admin.call('GET', `/audit-entries?resource=imports&recordId=${done.importId}`)
    assert.deepEqual(
      body.items.map(({ action, author }: { action: string; author: { name: string } }) => [action, author.name]),
      ['undone', 'ended', 'created', 'begun'].map((action) => [action, admin.person.email]),
    )
  })

  test('is undone when the call that asked for it is stored, however late, and not before', async (context) => {
    const path = await announce('accounts.csv', 'accounts', 'accountId,company\nLATE,Latecomer\n')
    await admin.call('POST', `${path}/start`)
    const { importId } = await ended(path)
    const holder = new pg.Client(service.connectionString)
    await holder.connect()
    context.after(() => holder.end())
    await holder.query('begin')
    // The answer cannot be kept under its key, without which nothing is committed.
    await holder.query('lock table idempotency_records in share mode')
    const undo = (key: string) =>
      admin.call('POST', `/imports/${importId}/undo`, { headers: { 'idempotency-key': key } })
    assert.equal((await undo('too late')).status, 503)
    assert.equal(await accountsWith('Latecomer'), 1)
    const asked = undo('late')
    await until('it waits', async () => {
      const { rows } = await service.owner.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
    await holder.query('commit')
    const { status, body } = await asked
    assert.equal(status, 201, JSON.stringify(body))
    const undone = await ended(`/import-runs/${body.id}`)
    assert.deepEqual([undone.state, undone.removed], ['done', 1])
  })

  test('tells what is wrong with the file, by its own name', async () => {
    const path = await announce('broken.csv', 'accounts', 'nonsense\n1\n')
    await admin.call('POST', `${path}/check`)
    const failed = await ended(path)
    assert.equal(failed.state, 'failed')
    assert.match(failed.problem, /^broken\.csv: it has a column "nonsense" \("1"\), which accounts do not have\./)
    assert.doesNotMatch(failed.problem, /\/tmp|--|`/)
  })

  test('is one of a tenant at a time, however many are asked for at once', async () => {
    const paths = await Promise.all([1, 2, 3, 4].map(() => announce('accounts.csv', 'accounts', accounts)))
    const answers = await Promise.all(paths.map((path) => admin.call('POST', `${path}/check`)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
    for (const [index, { status }] of answers.entries()) if (status === 200) await ended(paths[index] ?? '')
  })

  test('waits for all of the file', async () => {
    const { body: run } = await admin.call('POST', '/import-runs', {
      body: { fileName: 'a.csv', resource: 'accounts' },
    })
    const path = `/import-runs/${run.id}`
    assert.equal((await admin.call('POST', `${path}/check`)).body.code, 'conflict')
    await admin.call('POST', `${path}/parts`, { body: { number: 2, content: 'YQ==' } })
    await admin.call('POST', `${path}/check`)
    assert.match((await ended(path)).problem, /not arrived as a whole/)
  })

  test('of another tenant is not found', async () => {
    const other = await consoleOf([stranger, 'admin'])
    const path = await announce('accounts.csv', 'accounts', accounts)
    for (const [method, below] of [
      ['GET', ''],
      ['POST', '/start'],
      ['POST', '/check'],
      ['POST', '/inspect'],
      ['POST', '/cancel'],
      ['GET', '/rejected-rows'],
    ] as const)
      assert.equal((await other.call(method, path + below)).status, 404)
    assert.equal((await other.call('PATCH', path, { body: { resource: 'accounts' } })).status, 404)
    const part = { number: 1, content: 'YQ==' }
    assert.equal((await other.call('POST', `${path}/parts`, { body: part })).status, 404)
  })

  test('refuses what is no base64', async () => {
    const path = await announce('accounts.csv', 'accounts', accounts)
    for (const content of ['a', 'a b=', '====']) {
      const { status } = await admin.call('POST', `${path}/parts`, { body: { number: 1, content } })
      assert.equal(status, 422, content)
    }
  })

  test('that its process left behind is told to be interrupted, and can be started again', async () => {
    const path = await announce('accounts.csv', 'accounts', accounts)
    const id = path.split('/').at(-1)
    await service.owner.query(
      `update import_runs set state = 'running', seen_at = now() - interval '1 minute' where id = $1`,
      [id],
    )
    assert.equal((await admin.call('GET', path)).body.state, 'interrupted')
    await admin.call('POST', `${path}/check`)
    assert.equal((await ended(path)).state, 'checked')
  })
})
