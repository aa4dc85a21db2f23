import type { Masthead } from '@masthead/client'
import type { ListedName } from '@masthead/contract'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ListQuery } from './filters.ts'
import type { AnyRecord } from './kinds.ts'

export type RecordPage = { items: AnyRecord[]; page: number; pageSize: number; total: number | null }

type Lists = Record<ListedName, { list: (query: object, options: object) => PromiseLike<RecordPage> }>
type Gets = Record<ListedName, { get: (id: string, options: object) => Promise<AnyRecord> }>

// The casts forget which resource it is: each query was read by the contract of its own, see filters.ts.
export const pageQuery = (masthead: Masthead, name: ListedName, query: Partial<ListQuery>) =>
  queryOptions({
    queryKey: [name, 'list', query],
    queryFn: async ({ signal }): Promise<RecordPage> => {
      const { items, page, pageSize, total } = await (masthead as unknown as Lists)[name].list(query, { signal })
      return { items, page, pageSize, total }
    },
    placeholderData: keepPreviousData,
  })

export const recordQuery = (masthead: Masthead, name: ListedName, id: string) =>
  queryOptions({
    queryKey: [name, 'one', id],
    queryFn: ({ signal }): Promise<AnyRecord> => (masthead as unknown as Gets)[name].get(id, { signal }),
    // The client knows the tag of a record by the object that came, so that must not be copied.
    structuralSharing: false,
  })
