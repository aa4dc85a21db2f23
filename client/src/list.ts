/** One page of a list. */
export class Page<T> {
  /** The records of this page, in order of arrival. */
  readonly items: T[]
  /** The number of this page; the first is 1. */
  readonly page: number
  /** How many records a full page holds. */
  readonly pageSize: number
  /** How many records match, exactly; null when a search matches more than 10,000. */
  readonly total: number | null
  /** Where the next page begins, for `list({ cursor })` at another time; null on the last page. */
  readonly nextCursor: string | null
  /**
   * On the last page: give it as `after` to `changes.walk` or `changes.follow` for what has changed in the list since the
   * first page was read. Null on every other page.
   */
  readonly changesCursor: string | null
  readonly #load: LoadPage<T>

  constructor({ items, page, pageSize, total }: PageBody<T>, { next, changes }: PageCursors, load: LoadPage<T>) {
    this.items = items
    this.page = page
    this.pageSize = pageSize
    this.total = total
    this.nextCursor = next
    this.changesCursor = changes
    this.#load = load
  }

  /** The page after this one; null after the last. */
  async next(): Promise<Page<T> | null> {
    return this.nextCursor === null ? null : this.#load(this.nextCursor)
  }
}

/** A page as it is sent. */
export type PageBody<T> = { items: T[]; page: number; pageSize: number; total: number | null }
type PageCursors = { next: string | null; changes: string | null }
type LoadPage<T> = (cursor?: string) => Promise<Page<T>>

/**
 * `await` it for the first page, or walk it with `for await` for every record, page after page: whatever others write
 * meanwhile, no record comes twice, and none is missed that was there from the beginning.
 */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #load: LoadPage<T>
  #first: Promise<Page<T>> | undefined
  #changesCursor: string | null = null

  constructor(load: LoadPage<T>) {
    this.#load = load
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is to be awaited
  then<A = Page<T>, B = never>(
    onFulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#first ??= this.#load()
    return this.#first.then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<T> | B> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<Page<T>> {
    return this.then().finally(onFinally)
  }

  /**
   * When all records were walked over: give it as `after` to `changes.walk` or `changes.follow` for what has changed in the list since
   * then. Null before.
   */
  get changesCursor(): string | null {
    return this.#changesCursor
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let page: Page<T> | null = await this.#load(); page !== null; page = await page.next()) {
      yield* page.items
      this.#changesCursor = page.changesCursor
    }
  }
}
