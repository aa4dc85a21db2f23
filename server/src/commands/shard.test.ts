import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runMasthead } from '../../test/processes/masthead-process.ts'
import { startService } from '../../test/service.ts'

const service = await startService()
const environment = { DATABASE_URL: service.connectionString }
const refused = async (command: string, given: Record<string, string> = environment): Promise<string> => {
  const { code, stdout, stderr } = await runMasthead(command.split(' '), given)
  assert.deepEqual([code, stdout], [1, ''])
  return stderr
}

describe('masthead shard', () => {
  test('init says everything that keeps a database from being sharded', async () => {
    const said = await refused('shard init')
    assert.match(said, /\d+ sessions of Masthead use it: stop the service; it lacks the extension Citus: install it/)
    const { rows } = await service.owner.query(`select to_regclass('missing_references') as begun`)
    assert.deepEqual(rows, [{ begun: null }])
  })

  test('init refuses the embedded database, and a number of shards that is none', async () => {
    assert.match(await refused('shard init', {}), /the embedded database is one server: set DATABASE_URL/)
    assert.match(
      await refused('shard init --shards many'),
      /--shards must be a whole number from 1 to 4096, not "many"/,
    )
  })

  test('status and isolate say that the tables are not sharded', async () => {
    for (const command of ['status', 'isolate acme'])
      assert.match(await refused(`shard ${command}`), /not sharded: `masthead shard init` does it/)
  })

  test('no other command uses a database that is sharded in part', async () => {
    await service.owner.query('create table missing_references (relation text)')
    for (const command of ['migrate', 'tenant list', 'serve --port 0', 'shard status'])
      assert.match(await refused(command), /`masthead shard init` was interrupted: run it again/, command)
    await service.owner.query('drop table missing_references')
    assert.equal((await runMasthead(['tenant', 'list'], environment)).code, 0)
  })
})
