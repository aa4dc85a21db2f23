import type { Masthead, Subscription } from '@masthead/client'
import { isProblem } from '@masthead/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '../address.tsx'
import { Badge } from '../design/badge.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatDate } from '../design/formats.ts'
import { titleOf } from '../records/kinds.ts'
import { Status } from '../records/value.tsx'
import { useMasthead } from '../session.tsx'

const mostSearched = 2_000
const mostLinks = 50

type Chain = {
  links: Subscription[]
  /** There may be more renewals than were found. */
  isCut: boolean
}

/** What a subscription renewed, and what renewed it, the oldest first. */
const findChain = async (masthead: Masthead, id: string, signal: AbortSignal): Promise<Chain> => {
  const self = await masthead.subscriptions.get(id, { signal })
  const { found, isCut } = await subscriptionsOf(masthead, self.accountId, signal)
  const links = linked(self, [...found, ...(await findElsewhere(masthead, self, found, signal))])
  return { links: inOrder(links).slice(0, mostLinks), isCut: isCut || links.length > mostLinks }
}

/** What it renewed at another account, one after another. */
const findElsewhere = async (
  masthead: Masthead,
  self: Subscription,
  found: readonly Subscription[],
  signal: AbortSignal,
) => {
  const elsewhere: Subscription[] = []
  const known = (id: string) => [self, ...found, ...elsewhere].find((one) => one.id === id)
  const seen = new Set<string>()
  for (let at: Subscription = self; at.renewedFromSubsId !== null && !seen.has(at.id) && seen.size < mostLinks; ) {
    seen.add(at.id)
    const before = known(at.renewedFromSubsId) ?? (await findOrNull(masthead, at.renewedFromSubsId, signal))
    if (!before) break
    if (!known(before.id)) elsewhere.push(before)
    at = before
  }
  return elsewhere
}

/**
 * Those that name one another, and others of the same title with the same number on their label, which stays when a reader
 * renews. Terms that run at the same time are two subscriptions, whatever their number.
 */
const linked = (self: Subscription, all: readonly Subscription[]): Subscription[] => {
  const chain = naming(self, all)
  for (const one of all) {
    if (chain.includes(one) || !chain.some((link) => isSameNumber(link, one))) continue
    const others = naming(one, all)
    if (!others.some((other) => chain.some((link) => mayOverlap(link, other)))) chain.push(...others)
  }
  return chain
}

const naming = (self: Subscription, all: readonly Subscription[]): Subscription[] => {
  const links = new Map([[self.id, self]])
  // The map grows while it is walked through.
  for (const link of links.values())
    for (const one of all)
      if (one.renewedFromSubsId === link.id || link.renewedFromSubsId === one.id)
        links.set(one.id, links.get(one.id) ?? one)
  return [...links.values()]
}

const isSameNumber = (one: Subscription, other: Subscription): boolean =>
  Boolean(one.subscriptionNumber) &&
  one.subscriptionNumber === other.subscriptionNumber &&
  one.publicationId === other.publicationId

/** Also where it is not known when one of them runs. */
const mayOverlap = (one: Subscription, other: Subscription): boolean => {
  const [[start, end], [otherStart, otherEnd]] = [termOf(one), termOf(other)]
  if (!start || !end || !otherStart || !otherEnd) return true
  return start < otherEnd && otherStart < end
}

const termOf = ({ startDate, expireDate, endDate }: Subscription) => [startDate, expireDate ?? endDate] as const

/** Renewals stay with their account, but for some that were moved. */
const subscriptionsOf = async (masthead: Masthead, accountId: string, signal: AbortSignal) => {
  const found: Subscription[] = []
  const query = { accountId, includeDeleted: true, pageSize: 200 }
  for await (const one of masthead.subscriptions.list(query, { signal })) {
    found.push(one)
    if (found.length === mostSearched) break
  }
  return { found, isCut: found.length === mostSearched }
}

const findOrNull = (masthead: Masthead, id: string, signal: AbortSignal): Promise<Subscription | null> =>
  masthead.subscriptions.get(id, { signal }).catch((error) => {
    if (isProblem(error, 'not_found')) return null
    throw error
  })

/** By their first day; one without comes after what it renewed. */
const inOrder = (links: readonly Subscription[]): Subscription[] => {
  const dayOf = (link: Subscription, seen: readonly string[] = []): string => {
    const day = link.startDate ?? link.expireDate ?? link.endDate
    const before = links.find(({ id }) => id === link.renewedFromSubsId && !seen.includes(id))
    return day ?? (before ? `${dayOf(before, [...seen, link.id])}+` : '')
  }
  return links.toSorted((one, other) => (dayOf(one) < dayOf(other) ? -1 : dayOf(one) > dayOf(other) ? 1 : 0))
}

export const RenewalChain = ({ subscriptionId }: { subscriptionId: string }) => {
  const masthead = useMasthead()
  const query = useQuery({
    queryKey: ['subscriptions', 'chain', subscriptionId],
    queryFn: ({ signal }) => findChain(masthead, subscriptionId, signal),
  })
  return (
    <section className="section" aria-labelledby="renewals">
      <h2 id="renewals">Renewals</h2>
      <Fetched query={query} what="the renewals">
        {({ links, isCut }) => (
          <>
            {links.length === 1 ? (
              <p className="muted">It renewed no other, and was not renewed.</p>
            ) : (
              <div className="card padded">
                <ol className="chain">
                  {links.map((link) => (
                    <ChainLink key={link.id} link={link} isHere={link.id === subscriptionId} />
                  ))}
                </ol>
              </div>
            )}
            {isCut && (
              <p className="muted small">There may be more: only part of the account's subscriptions was searched.</p>
            )}
          </>
        )}
      </Fetched>
    </section>
  )
}

const ChainLink = ({ link, isHere }: { link: Subscription; isHere: boolean }) => {
  const dates = termOf(link).map((date) => (date ? formatDate(date) : '…'))
  const title = titleOf('subscriptions', { ...link })
  return (
    <li aria-current={isHere ? 'true' : undefined}>
      <span className="chain-line">
        {isHere ? (
          <strong>{title}</strong>
        ) : (
          <Link to="/subscriptions/$id" id={link.id}>
            {title}
          </Link>
        )}
        {link.subscriptionNumber && link.subscriptionNumber !== title && (
          <span className="muted">No. {link.subscriptionNumber}</span>
        )}
        {link.status && <Status status={link.status} />}
        {link.deletedAt && <Badge tone="problem">Deleted</Badge>}
        <span className="muted">{dates.join(' to ')}</span>
      </span>
    </li>
  )
}
