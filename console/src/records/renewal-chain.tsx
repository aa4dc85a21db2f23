import type { Masthead, Subscription } from '@masthead/client'
import { isProblem } from '@masthead/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '../address.tsx'
import { Badge } from '../design/badge.tsx'
import { Loading, Trouble } from '../design/states.tsx'
import { useMasthead } from '../session.tsx'
import { formatDate } from './formats.ts'
import { titleOf } from './kinds.ts'
import { Status } from './value.tsx'

const longest = 50
const mostSearched = 2_000

type Chain = {
  links: Subscription[]
  /** There may be more renewals than were found. */
  isCut: boolean
}

/** What a subscription renewed, and what renewed it, the oldest first. */
const findChain = async (masthead: Masthead, id: string, signal: AbortSignal): Promise<Chain> => {
  const self = await masthead.subscriptions.get(id, { signal })
  const earlier = await findEarlier(masthead, self, signal)
  const { later, isCut } = await findLater(masthead, self, signal)
  return { links: [...earlier, self, ...later], isCut: isCut || earlier.length === longest }
}

const findEarlier = async (masthead: Masthead, self: Subscription, signal: AbortSignal): Promise<Subscription[]> => {
  const earlier: Subscription[] = []
  const seen = new Set([self.id])
  let before = self.renewedFromSubsId
  while (before !== null && !seen.has(before) && earlier.length < longest) {
    seen.add(before)
    const found: Subscription | null = await masthead.subscriptions.get(before, { signal }).catch((error) => {
      if (isProblem(error, 'not_found')) return null
      throw error
    })
    if (!found) break
    earlier.unshift(found)
    before = found.renewedFromSubsId
  }
  return earlier
}

/** The API has no filter for it, but renewals stay with their account. */
const findLater = async (masthead: Masthead, self: Subscription, signal: AbortSignal) => {
  const renewals = new Map<string, Subscription>()
  let searched = 0
  for await (const one of masthead.subscriptions.list(
    { accountId: self.accountId, includeDeleted: true, pageSize: 200 },
    { signal },
  )) {
    if (one.renewedFromSubsId !== null) renewals.set(one.renewedFromSubsId, one)
    searched += 1
    if (searched === mostSearched) break
  }
  const later: Subscription[] = []
  for (let next = renewals.get(self.id); next && later.length < longest; next = renewals.get(next.id)) {
    if (next.id === self.id || later.includes(next)) break
    later.push(next)
  }
  return { later, isCut: searched === mostSearched || later.length === longest }
}

export const RenewalChain = ({ subscriptionId }: { subscriptionId: string }) => {
  const masthead = useMasthead()
  const { data, error, refetch } = useQuery({
    queryKey: ['subscriptions', 'chain', subscriptionId],
    queryFn: ({ signal }) => findChain(masthead, subscriptionId, signal),
  })
  return (
    <section className="section">
      <h2>Renewals</h2>
      {error && <Trouble error={error} onRetry={() => refetch()} />}
      {!error && !data && <Loading what="the renewals" />}
      {data && data.links.length === 1 && <p className="muted">It renewed no other, and was not renewed.</p>}
      {data && data.links.length > 1 && (
        <div className="card padded">
          <ol className="chain">
            {data.links.map((link) => (
              <ChainLink key={link.id} link={link} isHere={link.id === subscriptionId} />
            ))}
          </ol>
        </div>
      )}
      {data?.isCut && (
        <p className="muted small">There may be more: only part of the account's subscriptions was searched.</p>
      )}
    </section>
  )
}

const ChainLink = ({ link, isHere }: { link: Subscription; isHere: boolean }) => {
  const dates = [link.startDate, link.expireDate ?? link.endDate].map((date) => (date ? formatDate(date) : '…'))
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
        {link.status && <Status status={link.status} />}
        {link.deletedAt && <Badge tone="problem">Deleted</Badge>}
        <span className="muted">{dates.join(' to ')}</span>
      </span>
    </li>
  )
}
