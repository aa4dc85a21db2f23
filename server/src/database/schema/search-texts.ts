import type pg from 'pg'
import { unpreparedOn } from '../connections/session.ts'
import { inTransaction, type Query } from '../connections/statement.ts'
import { isShardLost } from '../connections/unavailable.ts'

const batchRows = 500

/**
 * Brings stored search texts to the form that this program searches for. Each batch locks the head of its list first, as a write
 * does, and is short enough for other writers.
 */
export const renewSearchTexts = async (client: pg.Client, renew: (text: string) => string): Promise<void> => {
  const isLeft = await conditionToRenew(unpreparedOn(client))
  if (isLeft === null) return
  for (const list of await listsWhere(client, isLeft)) {
    for (let after: number | null = 0; after !== null; )
      after = await renewBatch(client, list, { after, isLeft, renew })
  }
}

/** The index that holds the texts of earlier programs, and no others. */
export const renewalIndex = 'search_texts_to_renew'

/** SQL: which texts this index holds; null where there is none yet. */
export const conditionToRenew = async (query: Query): Promise<string | null> => {
  const text = 'select pg_get_expr(indpred, indrelid) as condition from pg_index where indexrelid = to_regclass($1)'
  const [found] = await query<{ condition: string }>({ text, values: [renewalIndex] })
  return found?.condition ?? null
}

type List = { tenant_id: string; resource: string }

/** The server of a shard that is away has its texts done at a later start. */
const listsWhere = async (client: pg.Client, isLeft: string): Promise<List[]> => {
  try {
    const text = `select distinct tenant_id, resource from search_texts where ${isLeft}`
    return (await client.query<List>(text)).rows
  } catch (error) {
    if (isShardLost(error)) return []
    throw error
  }
}

/** Returns the last position that it came to, or null where none was left. */
const renewBatch = (
  client: pg.Client,
  { tenant_id: tenantId, resource }: List,
  { after, isLeft, renew }: { after: number; isLeft: string; renew: (text: string) => string },
): Promise<number | null> =>
  inTransaction(unpreparedOn(client), async (query) => {
    await query({
      text: 'select from heads where tenant_id = $1 and resource = $2 for update',
      values: [tenantId, resource],
    })
    const rows = await query<{ position: number; text: string }>({
      text: `select position, text from search_texts where tenant_id = $1 and resource = $2 and position > $3 and ${isLeft}
        order by position limit ${batchRows}`,
      values: [tenantId, resource, after],
    })
    await query({
      text: `update search_texts set text = given.text from unnest($3::bigint[], $4::text[]) as given (position, text)
        where tenant_id = $1 and resource = $2 and search_texts.position = given.position`,
      values: [tenantId, resource, rows.map(({ position }) => position), rows.map(({ text }) => renew(text))],
    })
    return rows.at(-1)?.position ?? null
  })
