import type { Caller, CallOptions } from './caller.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type { StreamEvent } from './event-parser.ts'
import type { Change, ListedName } from './generated/contract.ts'
import { readObject } from './json-object.ts'

/** Some changes, in the order in which a copy applies them. */
export interface ChangeBatch<Name extends ListedName = ListedName> {
  /** At least one. A record comes as it is now. */
  items: Change<Name>[]
  /** Covers everything up to the last of the items: store it together with what you applied. It never expires. */
  cursor: string
}

export interface FollowOptions<Name extends ListedName = ListedName> {
  /** The `cursor` of the last batch that was applied, or the `changesCursor` of a walk. Without it, everything from the beginning. */
  after?: string | null | undefined
  /** Only of these lists. Without it, of all that the token may read. */
  resources?: readonly Name[] | undefined
  /** Ends the loop. */
  signal?: AbortSignal | undefined
  /** How long a connection may bring nothing before another is opened. The service sends a sign of life every 15 seconds. */
  timeoutMilliseconds?: number | undefined
}

export interface WalkOptions<Name extends ListedName = ListedName>
  extends Omit<FollowOptions<Name>, keyof CallOptions>,
    CallOptions {
  /** How many changes a batch holds at most: 200 unless said otherwise, up to 1,000. */
  limit?: number | undefined
}

const operation = 'ListChanges'
const segments = ['changes']

/** What was written and removed, for whoever keeps a copy. */
export class Changes {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Everything that has changed up to now, batch by batch. */
  async *walk<Name extends ListedName = ListedName>({
    after,
    resources,
    limit,
    ...options
  }: WalkOptions<Name> = {}): AsyncGenerator<ChangeBatch<Name>, void, undefined> {
    let cursor = after
    for (let hasMore = true; hasMore; ) {
      const query = { ...queryOf(cursor, resources), limit }
      const page = await this.#caller.call<ChangeBatch<Name> & { hasMore: boolean }>(
        ...([operation, 'GET', segments, options, undefined, query] as const),
      )
      if (page.items.length > 0) yield { items: page.items, cursor: page.cursor }
      cursor = page.cursor
      hasMore = page.hasMore
    }
  }

  /**
   * Everything that has changed, and then what changes, within a second, until the signal ends the loop. Connections that break are opened
   * again, and go on after the last batch that was taken. It fails with what that does not cure, as a revoked token or `invalid_cursor`.
   */
  async *follow<Name extends ListedName = ListedName>({
    after,
    resources,
    ...options
  }: FollowOptions<Name> = {}): AsyncGenerator<ChangeBatch<Name>, void, undefined> {
    const streamed = this.#caller.events(operation, segments, options, (lastId) => queryOf(lastId ?? after, resources))
    for await (const events of streamed) {
      const items = events.filter(({ name }) => name === 'change').map((event) => itemOf<Name>(event))
      const cursor = events.at(-1)?.id
      if (items.length > 0 && cursor !== undefined) yield { items, cursor }
    }
  }
}

const queryOf = (after: string | null | undefined, resources: readonly string[] | undefined): object => ({
  after: after ?? undefined,
  resources: resources?.join(','),
})

const itemOf = <Name extends ListedName>({ data }: StreamEvent): Change<Name> => {
  const item = readObject(data)
  if (!item) throw new UnexpectedAnswerError('the stream brought something that is not from Masthead', 200)
  return item as Change<Name> // by the contract
}
