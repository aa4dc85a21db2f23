import { readFileSync } from 'node:fs'
import pg from 'pg'

const statementsFile = new URL('../../src/database/schema/statements.sql', import.meta.url)

export type Routing = { read: number; elsewhere: string[] }

/** Asks for the plan of every statement of `statements.sql` that reads tables of a tenant: how many of them ask one shard, and which do not. */
export const explainReads = async (connectionString: string): Promise<Routing> => {
  const client = new pg.Client(connectionString)
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select logicalrelid::text as name from pg_dist_partition where partmethod = 'h'`,
  )
  const distributed = new RegExp(`\\b(from|join) (${rows.map(({ name }) => name).join('|')})\\b`)
  const isRead = (text: string) => distributed.test(text) && text.includes('tenant_id = $1') && !writes.test(text)
  const found: Routing = { read: 0, elsewhere: [] }
  for (const text of statements().filter(isRead)) {
    const tasks = await tasksOf(client, text)
    if (tasks === 1) found.read++
    else found.elsewhere.push(`${tasks ?? 'not planned'}: ${text.replaceAll(/\s+/g, ' ').slice(0, 120)}`)
  }
  await client.end()
  return found
}

const writes = /\b(insert into|update|delete from)\b(?! skip)|pg_temp|\b(staged|judged|found|late|missing)_/

const statements = (): string[] =>
  readFileSync(statementsFile, 'utf8')
    .split(/;\n/)
    .map((part) => part.replaceAll(/^--.*$/gm, '').trim())
    .filter((text) => /^(select|with)\b/.test(text))

/** With the tenant as the first parameter, as every statement of its door has it. */
const tasksOf = async (client: pg.Client, text: string): Promise<number | null> => {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const values = [`'00000000-0000-0000-0000-000000000001'`, ...Array(Math.max(0, count - 1)).fill('null')].slice(
    0,
    count,
  )
  await client.query('begin')
  try {
    await client.query(`set local masthead.tenant = '00000000-0000-0000-0000-000000000001'`)
    await client.query(`prepare one as ${text}`)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain execute one${count > 0 ? `(${values.join(', ')})` : ''}`,
    )
    const counts = rows.flatMap(({ 'QUERY PLAN': line }) => Number(/Task Count: (\d+)/.exec(line)?.[1] ?? []))
    return counts.length > 0 ? Math.max(...counts.filter((count) => !Number.isNaN(count))) : null
  } catch {
    return null
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
}
