import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ListedName, listedNames, storedFieldsOf } from '@masthead/contract'
import { openEventStream } from '../requests/event-stream.ts'

type Item = {
  resource: ListedName
  id: string
  externalId: string | null
  change: 'written' | 'removed'
  record: Readonly<Record<string, unknown>> | null
}

/** Where a copy is followed: it may fail and come back, also at another address. */
export type Followed = { origin: () => string; token: string; signal: AbortSignal }

type Page = { items: Item[]; cursor: string; hasMore: boolean }
type Get = (path: string) => Promise<Page>

/** Long enough for a server that comes back to be there. */
const pauseMilliseconds = 100

/** A copy of a tenant's records, as an integrator keeps it: it applies changes in their order, and nothing else. */
export class FollowedCopy {
  readonly #records = new Map<string, Record<string, unknown>>()
  readonly #onApply: (record: Item['record']) => void
  cursor: string | undefined
  applied = 0

  constructor(onApply: (record: Item['record']) => void = () => {}) {
    this.#onApply = onApply
  }

  apply({ resource, id, externalId, change, record }: Item, cursor: string): void {
    const name = `${resource} ${id}`
    if (change === 'removed') this.#records.delete(name)
    else this.#records.set(name, { ...record, externalId })
    this.cursor = cursor
    this.applied++
    this.#onApply(record)
  }

  /** Follows until the signal; what fails is tried again from the last cursor, and a refused cursor fails the copy. */
  async poll(followed: Followed): Promise<void> {
    const get = getterOf(followed, followed.signal)
    while (!followed.signal.aborted) {
      try {
        this.#applyPage(await get(this.#path('wait=5')))
      } catch (error) {
        await restAfter(error)
      }
    }
  }

  async stream({ origin, token, signal }: Followed): Promise<void> {
    while (!signal.aborted) {
      try {
        const headers = this.cursor === undefined ? {} : { 'last-event-id': this.cursor }
        const stream = await openEventStream(origin(), '/changes', { token, headers })
        signal.addEventListener('abort', stream.close, { once: true })
        if (stream.status === 400) throw new CursorRefused()
        if (stream.status !== 200) throw new Error(`the stream was answered with ${stream.status}`)
        for await (const { id, data } of stream.events) this.apply(JSON.parse(data), id)
      } catch (error) {
        if (!signal.aborted) await restAfter(error)
      }
    }
  }

  /** Reads to the end. */
  async catchUp(followed: Followed): Promise<void> {
    const get = getterOf(followed, AbortSignal.timeout(60_000))
    for (let hasMore = true; hasMore; ) {
      const page = await get(this.#path('limit=1000'))
      this.#applyPage(page)
      hasMore = page.hasMore
    }
  }

  /** Fails where it differs from the files of an export in the format `ndjson`. */
  async assertEquals(folder: string): Promise<void> {
    const exported = new Map<string, string>()
    for (const resource of listedNames)
      for (const line of (await readFile(join(folder, `${resource}.ndjson`), 'utf8')).split('\n').filter(Boolean)) {
        const row: Record<string, unknown> = JSON.parse(line)
        exported.set(`${resource} ${row.id}`, comparable(resource, row))
      }
    const kept = this.#records.entries().map(([name, record]): [string, string] => {
      const resource = name.slice(0, name.indexOf(' ')) as ListedName // as `apply` names it
      return [name, comparable(resource, record)]
    })
    assert.deepEqual(new Map([...kept].sort()), new Map([...exported].sort()))
  }

  #path(more: string): string {
    return `/changes?${more}${this.cursor === undefined ? '' : `&after=${this.cursor}`}`
  }

  #applyPage({ items, cursor }: Page): void {
    for (const item of items) this.apply(item, cursor)
    this.cursor = cursor
  }
}

/** It stays wrong, however often it is sent. */
class CursorRefused extends Error {}

const restAfter = async (error: unknown): Promise<void> => {
  if (error instanceof CursorRefused) throw error
  await delay(pauseMilliseconds)
}

const getterOf =
  ({ origin, token }: Followed, signal: AbortSignal): Get =>
  async (path) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${origin()}/customer-api/v1${path}`, { headers, signal })
    if (response.status === 400) throw new CursorRefused()
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`)
    return (await response.json()) as Page // of this shape, as other tests show
  }

/** What both the record of a change and a row of an export have. */
const comparable = (resource: ListedName, row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    storedFieldsOf(resource)
      .filter(({ isShown, name }) => isShown || name === 'externalId')
      .map(({ name }) => [name, row[name] ?? null]),
  )
