import type { TenantQuery } from './tenant-query.ts'

/** A statement that finds rows by a column that no two share: `$2` is an array of its values, and it answers each as `key`. */
export type KeyedStatement = { text: string; key: string }

type KeyedRow = { key: string; body: Buffer }
type Group = { keys: string[]; bodies: Promise<Map<string, Buffer>> }

/** As many as a page has, so that nobody's turn takes longer than that. */
const mostInGroup = 50

/**
 * What is asked for by its key in one turn of the event loop is read by one statement: of what a row costs that is asked
 * for alone, most is the statement.
 */
export class BatchedReads {
  readonly #read: TenantQuery
  /**
   * By their texts, which are few and stay: a map whose keys come and go makes itself a new table every few of them, and the old tables
   * keep what they held alive through garbage collections.
   */
  readonly #gathering = new Map<string, Group | null>()

  constructor(read: TenantQuery) {
    this.#read = read
  }

  async bodyOf({ text, key }: KeyedStatement): Promise<Buffer | null> {
    let group = this.#gathering.get(text)
    if (!group || group.keys.length === mostInGroup) {
      group = this.#gather(text)
      this.#gathering.set(text, group)
    }
    group.keys.push(key)
    return (await group.bodies).get(key) ?? null
  }

  #gather(text: string): Group {
    const keys: string[] = []
    const bodies = new Promise<Map<string, Buffer>>((resolve) => {
      setImmediate(() => {
        if (this.#gathering.get(text)?.keys === keys) this.#gathering.set(text, null)
        resolve(this.#bodies(text, keys))
      })
    })
    return { keys, bodies }
  }

  async #bodies(text: string, keys: string[]): Promise<Map<string, Buffer>> {
    const rows = await this.#read<KeyedRow>({ text, values: [keys] })
    return new Map(rows.map(({ key, body }) => [key, body]))
  }
}
