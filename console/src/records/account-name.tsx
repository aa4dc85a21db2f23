import type { Account } from '@masthead/client'
import { useQuery } from '@tanstack/react-query'
import { useMasthead } from '../session.tsx'

export const accountKey = (accountId: string) => ['accounts', 'chosen', accountId]

/** The account of this number; nothing is asked for an empty one. */
export const useAccount = (accountId: string) => {
  const masthead = useMasthead()
  return useQuery({
    queryKey: accountKey(accountId),
    queryFn: ({ signal }) => masthead.accounts.get(accountId, { signal }),
    enabled: accountId !== '',
    staleTime: 60_000,
  })
}

/** What tells accounts of one name apart: where they are, and their number. */
export const detailOf = ({ accountId, city }: Pick<Account, 'accountId' | 'city'>): string =>
  [city, accountId].filter(Boolean).join(' · ')
