import type { Account } from '@masthead/client'
import { largest, mostIds } from '@masthead/contract'
import { useQueries } from '@tanstack/react-query'
import { createContext, type ReactNode, use } from 'react'
import { useMasthead } from '../session.tsx'
import type { AnyRecord } from './kinds.ts'

type Names = ReadonlyMap<string, string>

const NamesContext = createContext<Names>(new Map())

/** What the account is called, where the records around it were given to `AccountNames`; undefined while it is not known. */
export const useAccountName = (accountId: string): string | undefined => use(NamesContext).get(accountId)

/** Fetches the names of all accounts of some records at once, so that people need not know them by number. */
export const AccountNames = ({ records, children }: { records: readonly AnyRecord[]; children: ReactNode }) => {
  const masthead = useMasthead()
  const names = useQueries({
    queries: batchesOf(records).map((ids) => ({
      queryKey: ['accounts', 'names', ids],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Account[]> =>
        (await masthead.accounts.list({ ids, pageSize: mostIds }, { signal })).items,
      staleTime: 60_000,
    })),
    combine: namesOf,
  })
  return <NamesContext value={names}>{children}</NamesContext>
}

const namesOf = (results: readonly { data?: Account[] | undefined }[]): Names =>
  new Map(
    results.flatMap(({ data = [] }) =>
      data.flatMap(({ accountId, company }): [string, string][] => (company?.trim() ? [[accountId, company]] : [])),
    ),
  )

/** Room for the rest of the address. */
const mostCharacters = largest.urlBytes - 1_024

/** Nearly always one: a page has no more accounts than a list of identifiers takes, unless these are very long. */
const batchesOf = (records: readonly AnyRecord[]): string[] => {
  const ids = new Set(records.map(({ accountId }) => accountId))
  const batches: string[] = []
  let room = 0
  for (const id of ids) {
    // Commas separate them.
    if (typeof id !== 'string' || id === '' || id.includes(',')) continue
    const length = encodeURIComponent(`,${id}`).length
    if (length > room) {
      batches.push(id)
      room = mostCharacters - length
    } else {
      batches.push(`${batches.pop()},${id}`)
      room -= length
    }
  }
  return batches
}
