import assert from 'node:assert/strict'
import { secret, startService } from '../service.ts'
import { type Run, runInSession } from './command-session.ts'

export const signingSecret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`

/** A service with the tenant acme and its admin Ada, and commands on its database. */
export const startCommands = async () => {
  const service = await startService()
  const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, LEGACY_ALLOW_PRIVATE: 'true' }
  const textBy = async (run: Run, command: string, input?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(command.split(' '), environment, input)
    assert.deepEqual([code, stderr], [0, ''], command)
    return stdout
  }
  const text = (command: string, input?: string) => textBy(runInSession, command, input)
  const json = async (command: string, input?: string) => JSON.parse(await text(`${command} --json`, input))
  const passwordHashOf = async (email: string): Promise<string> => {
    const { rows } = await service.owner.query('select password_hash from users where email = $1', [email])
    return rows[0]?.password_hash
  }
  await text('tenant create acme --name Acme --default-assignee T-1')
  await text(
    'user create --tenant acme --email ada@acme.example --name Ada --role admin --legacy-user-id L-1 --proven --password-stdin',
    'correct horse\n',
  )
  return { service, environment, textBy, text, json, passwordHashOf }
}
