import type { Masthead } from '@masthead/client'
import type { ListedName } from '@masthead/contract'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ListQuery } from './filters.ts'
import type { AnyRecord } from './kinds.ts'

export type RecordPage = {
  items: AnyRecord[]
  page: number
  pageSize: number
  total: number | null
  /** Where the next page begins, as the response tells; null on the last page. */
  nextCursor: string | null
}

type Lists = Record<ListedName, { list: (query: object, options: object) => PromiseLike<RecordPage> }>
type Gets = Record<ListedName, { get: (id: string, options: object) => Promise<AnyRecord> }>

export const pageQuery = (masthead: Masthead, name: ListedName, query: Partial<ListQuery>) =>
  queryOptions({
    queryKey: [name, 'list', query],
    queryFn: ({ signal }): Promise<RecordPage> => fetchPage(masthead, name, query, signal),
    placeholderData: keepPreviousData,
  })

export const fetchPage = async (
  masthead: Masthead,
  name: ListedName,
  query: Partial<ListQuery>,
  signal: AbortSignal,
): Promise<RecordPage> => {
  // The cast forgets which resource it is: each query was read by the contract of its own, see filters.ts.
  const list = (masthead as unknown as Lists)[name].list(query, { signal })
  const { items, page, pageSize, total, nextCursor } = await list
  return { items, page, pageSize, total, nextCursor }
}

export const recordQuery = (masthead: Masthead, name: ListedName, id: string) =>
  queryOptions({
    queryKey: [name, 'one', id],
    // The cast forgets which resource it is: every listed one has this method.
    queryFn: ({ signal }): Promise<AnyRecord> => (masthead as unknown as Gets)[name].get(id, { signal }),
    // The client knows the tag of a record by the object that came, so that must not be copied.
    structuralSharing: false,
  })
