import type { Account } from '@masthead/client'
import { useQuery } from '@tanstack/react-query'
import { useMasthead } from '../../session.tsx'

/** The account of a record; undefined while it is not known. */
export const useAccount = (accountId: string | null): Account | undefined => {
  const masthead = useMasthead()
  const { data } = useQuery({
    queryKey: ['accounts', 'chosen', accountId],
    queryFn: ({ signal }) => masthead.accounts.get(String(accountId), { signal }),
    enabled: accountId !== null && accountId !== '',
    staleTime: 60_000,
  })
  return data
}

/** What tells accounts of one name apart: where they are, and their number. */
export const detailOf = ({ accountId, city }: Pick<Account, 'accountId' | 'city'>): string =>
  [city, accountId].filter(Boolean).join(' · ')
