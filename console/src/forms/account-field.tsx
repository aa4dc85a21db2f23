import { type Account, isProblem } from '@masthead/client'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Combobox } from '../design/combobox.tsx'
import type { FieldProps } from '../design/field.tsx'
import { usePaused } from '../design/paused.ts'
import { accountKey, detailOf, useAccount } from '../records/account-name.tsx'
import { useMasthead } from '../session.tsx'

const most = 8

type AccountFieldProps = FieldProps & {
  /** The business identifier; or what was typed and not chosen, of which the service says what is wrong. */
  value: string
  onChange: (value: string) => void
  /** It filters: only an account that was chosen is taken, because any other text would silently match nothing. */
  isFilter?: boolean
}

/** An account, found by the words of its company, its city or its number. */
export const AccountField = ({ value, onChange, isFilter = false, ...field }: AccountFieldProps) => {
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  /** Null while nobody types: then the box shows the account that was chosen, or that the page was opened with. */
  const [typed, setTyped] = useState<string | null>(null)
  const [isLeft, setLeft] = useState(false)
  const words = usePaused(typed ?? '').trim()
  const { data: found, isFetching } = useQuery({
    queryKey: ['accounts', 'suggested', words],
    queryFn: async ({ signal }): Promise<Account[]> =>
      (await masthead.accounts.list({ search: words.slice(0, 200), pageSize: most }, { signal })).items,
    enabled: words !== '',
    placeholderData: keepPreviousData,
  })
  const { data: chosen, error: refusal } = useAccount(typed === null ? value : '')
  const accounts = words === '' ? [] : (found ?? []).toSorted((one, other) => rankOf(one, words) - rankOf(other, words))
  const isSearching = isFetching || (typed ?? '').trim() !== words
  const choose = (account: Account) => {
    // Its name is known from the list, and shown at once.
    queryClient.setQueryData(accountKey(account.accountId), account)
    setTyped(null)
    onChange(account.accountId)
  }
  const leave = () => {
    setLeft(true)
    const [meant, ...others] = accounts.filter((account) => isNamed(account, (typed ?? '').trim()))
    if (meant && others.length === 0 && !isSearching) choose(meant)
    else if (isFilter) setTyped(null)
  }
  const isUnknown = isProblem(refusal, 'not_found')
  const isUnmatched = isLeft && !isFilter && words !== '' && !isSearching && accounts.length === 0
  return (
    <Combobox
      {...field}
      error={field.error ?? (isUnknown || isUnmatched ? `There is no account “${typed ?? value}”.` : undefined)}
      placeholder={isFilter ? 'Any' : 'Company, city or number'}
      text={typed ?? chosen?.company ?? value}
      onText={(text) => {
        setLeft(false)
        setTyped(text)
        if (!isFilter || text.trim() === '') onChange(text.trim())
      }}
      options={accounts.map((account) => ({
        value: account.accountId,
        label: account.company ?? account.accountId,
        detail: detailOf(account),
      }))}
      onChoose={(option) => {
        const account = accounts.find(({ accountId }) => accountId === option.value)
        if (account) choose(account)
      }}
      onLeave={leave}
      status={statusOf(words, isSearching, accounts.length)}
      note={!isFilter && chosen?.company && <p className="field-help">{detailOf(chosen)}</p>}
    />
  )
}

/** The account of which the number was typed comes first. */
const rankOf = ({ accountId }: Account, words: string): number => (accountId === words ? 0 : 1)

/** An account whose number or name was typed whole need not be chosen. */
const isNamed = ({ accountId, company }: Account, text: string): boolean =>
  text !== '' && [accountId, company].some((name) => name?.toLowerCase() === text.toLowerCase())

const statusOf = (words: string, isSearching: boolean, count: number): string => {
  if (words === '') return ''
  if (isSearching) return 'Searching …'
  if (count === 0) return 'No account matches'
  return count === 1 ? 'One account' : `${count} accounts`
}
