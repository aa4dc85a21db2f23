import type { Account } from '@masthead/client'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Combobox } from '../design/combobox.tsx'
import type { FieldProps } from '../design/field.tsx'
import { useMasthead } from '../session.tsx'

const pauseMilliseconds = 150
const most = 8

type AccountFieldProps = FieldProps & {
  /** The business identifier; or what was typed and not chosen, of which the service says what is wrong. */
  value: string
  onChange: (value: string) => void
}

/** An account, found by the words of its company or by its identifier. */
export const AccountField = ({ value, onChange, ...field }: AccountFieldProps) => {
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  /** Null while nobody types: then the box shows the account that was chosen, or that the page was opened with. */
  const [typed, setTyped] = useState<string | null>(null)
  const words = usePaused(typed ?? '').trim()
  const { data: found, isFetching } = useQuery({
    queryKey: ['accounts', 'suggested', words],
    queryFn: async ({ signal }): Promise<Account[]> =>
      (await masthead.accounts.list({ search: words.slice(0, 200), pageSize: most }, { signal })).items,
    enabled: words !== '',
    placeholderData: keepPreviousData,
  })
  const { data: chosen } = useQuery({
    queryKey: ['accounts', 'chosen', value],
    queryFn: ({ signal }) => masthead.accounts.get(value, { signal }),
    enabled: typed === null && value !== '',
    staleTime: 60_000,
  })
  const accounts = words === '' ? [] : [...(found ?? [])].sort((one) => (one.accountId === words ? -1 : 0))
  const company = typed === null ? chosen?.company : null
  return (
    <Combobox
      {...field}
      text={typed ?? company ?? value}
      onText={(text) => {
        setTyped(text)
        onChange(text.trim())
      }}
      options={accounts.map(({ accountId, company }) => ({
        value: accountId,
        label: company ?? accountId,
        detail: accountId,
      }))}
      onChoose={(option) => {
        // Its name is known from the list, and shown at once.
        const account = accounts.find(({ accountId }) => accountId === option.value)
        queryClient.setQueryData(['accounts', 'chosen', option.value], account)
        setTyped(null)
        onChange(option.value)
      }}
      status={statusOf(words, isFetching || typed?.trim() !== words, accounts.length)}
      note={company && <p className="field-help">{chosen?.accountId}</p>}
    />
  )
}

const statusOf = (words: string, isSearching: boolean, count: number): string => {
  if (words === '') return ''
  if (isSearching) return 'Searching …'
  if (count === 0) return 'No account matches'
  return count === 1 ? 'One account' : `${count} accounts`
}

/** What was typed, when the typing pauses. */
const usePaused = (text: string): string => {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}
