import { type ListedName, longest, resources } from '@masthead/contract'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import type { Parameters } from '../address.tsx'
import type { AnyRecord } from '../records/kinds.ts'
import { fetchPage, type RecordPage } from '../records/queries.ts'
import { useVisits } from '../records/visits.ts'
import { useMasthead } from '../session.tsx'

/** Records of one kind, and the list with all that match, where there are more. */
export type Group = { label: string; name: ListedName; records: readonly AnyRecord[]; all: Parameters | null }
export type Found = {
  groups: readonly Group[]
  isSearching: boolean
  /** Some of it is what other words found, until these have found something. */
  isOutdated: boolean
  error: unknown
}

const most = 5
/** Of so many accounts that match, what they subscribe to and owe is shown as well. */
const mostAccounts = 2

/** Nothing is left out: who searches for a record by name wants to know what became of it. */
const everything = (name: ListedName) =>
  Object.fromEntries(Object.keys(resources[name].listing.leftOutUnless).map((include) => [include, true]))

const useSearch = () => {
  const masthead = useMasthead()
  return (name: ListedName, query: Record<string, string | number>, isWanted = true) => ({
    queryKey: [name, 'found', query],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<RecordPage> =>
      fetchPage(masthead, name, { pageSize: most, ...everything(name), ...query }, signal),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })
}

/** Accounts and contacts by their words; subscriptions and invoices by their identifiers and numbers, and by the accounts that match. */
export const useFound = (words: string): Found => {
  const search = useSearch()
  const text = words.slice(0, longest.search)
  const isAsked = text !== ''
  // Identifiers have no spaces, and commas separate them.
  const isIdentifier = isAsked && !/[\s,]/.test(text)
  const accounts = useQuery(search('accounts', { search: text }, isAsked))
  const contacts = useQuery(search('contacts', { search: text }, isAsked))
  const accountIds = isAsked
    ? (accounts.data?.items ?? []).slice(0, mostAccounts).map(({ accountId }) => String(accountId))
    : []
  const subscriptions = useQueries({
    queries: [
      search('subscriptions', { ids: text }, isIdentifier),
      search('subscriptions', { subscriptionNumber: text, sort: '-expireDate' }, isIdentifier),
      ...accountIds.map((accountId) => search('subscriptions', { accountId, sort: '-expireDate' })),
    ],
  })
  const invoices = useQueries({
    queries: [
      search('invoices', { ids: text }, isIdentifier),
      search('invoices', { externalId: text }, isIdentifier),
      ...accountIds.map((accountId) => search('invoices', { accountId, sort: '-issueDate' })),
    ],
  })
  if (!isAsked) return { groups: [], isSearching: false, isOutdated: false, error: null }
  const all = [accounts, contacts, ...subscriptions, ...invoices]
  const wordsAll = { search: text, ...mapText(everything('contacts')) }
  const groups: Group[] = [
    groupOf('Accounts', 'accounts', [accounts.data], { search: text }),
    groupOf('Contacts', 'contacts', [contacts.data], wordsAll),
    groupOf('Subscriptions', 'subscriptions', dataOf(subscriptions, isIdentifier ? 0 : 2), null),
    groupOf('Invoices', 'invoices', dataOf(invoices, isIdentifier ? 0 : 2), null),
  ]
  return {
    groups: groups.filter(({ records }) => records.length > 0),
    isSearching: all.some(({ isFetching }) => isFetching),
    isOutdated: all.some(({ isPlaceholderData }) => isPlaceholderData),
    error: all.find(({ error }) => error)?.error ?? null,
  }
}

type Fetched = readonly { data?: RecordPage | undefined }[]

/** A query that is not wanted may still hold what was found before. */
const dataOf = (results: Fetched, from: number) => results.slice(from).map(({ data }) => data)

const mapText = (flags: Readonly<Record<string, boolean>>): Parameters =>
  Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, String(value)]))

const groupOf = (
  label: string,
  name: ListedName,
  pages: readonly (RecordPage | undefined)[],
  all: Parameters | null,
): Group => {
  const records = new Map(pages.flatMap((page) => page?.items ?? []).map((record) => [record.id, record]))
  const hasMore = pages.some((page) => page && page.nextCursor !== null)
  return { label, name, records: [...records.values()].slice(0, most), all: hasMore ? all : null }
}

/** What was looked at last. What is gone, or was erased, is left out. */
export const useRecent = (): readonly Group[] => {
  const visits = useVisits()
  const search = useSearch()
  const names = [...new Set(visits.map(({ name }) => name))]
  const pages = useQueries({
    queries: names.map((name) => {
      const ids = visits.flatMap((visit) => (visit.name === name ? visit.id : []))
      return search(name, { ids: ids.join(), pageSize: ids.length })
    }),
  })
  const records = new Map(pages.flatMap(({ data }) => data?.items ?? []).map((record) => [record.id, record]))
  return visits.flatMap(({ name, id }) => {
    const record = records.get(id)
    return record ? { label: 'Recent', name, records: [record], all: null } : []
  })
}
