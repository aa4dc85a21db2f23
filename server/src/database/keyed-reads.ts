import type { Query } from './connection.ts'

/** A statement that finds rows by a column that no two share: `$1` is an array of its values, and it answers each as `key`. */
export type KeyedStatement = { text: string; key: string }

type KeyedRow = { key: string; body: Buffer }
type Group = { keys: string[]; bodies: Promise<Map<string, Buffer>> }

/** As many as a page has, so that nobody's turn takes longer than that. */
const mostInGroup = 50

/**
 * What is asked for by its key in one turn of the event loop is read by one statement for each tenant: of what a row costs
 * that is asked for alone, most is the statement.
 */
export class KeyedReads {
  readonly #gathering = new Map<string, Group>()

  async bodyOf(tenantId: string, read: Query, { text, key }: KeyedStatement): Promise<Buffer | null> {
    const line = `${tenantId} ${text}`
    let group = this.#gathering.get(line)
    if (!group || group.keys.length === mostInGroup) {
      group = this.#gather(line, (keys) => read<KeyedRow>({ text, values: [keys] }))
      this.#gathering.set(line, group)
    }
    group.keys.push(key)
    return (await group.bodies).get(key) ?? null
  }

  #gather(line: string, read: (keys: string[]) => Promise<KeyedRow[]>): Group {
    const keys: string[] = []
    const bodies = new Promise<Map<string, Buffer>>((resolve) => {
      setImmediate(() => {
        this.#gathering.delete(line)
        resolve(read(keys).then((rows) => new Map(rows.map(({ key, body }) => [key, body]))))
      })
    })
    return { keys, bodies }
  }
}
