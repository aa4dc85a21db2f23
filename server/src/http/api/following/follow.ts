import { Problem, unavailable } from '../../../problem.ts'
import type { Followed, Seat } from '../callers/rate-limit.ts'
import { type Exchange, found } from '../exchange.ts'

/**
 * Takes a seat among the calls of its token that follow. From then on the call is none of those in flight, neither in the limits of its
 * token nor in the time that it takes.
 */
export const follow = async (exchange: Exchange, kind: Followed): Promise<Seat> => {
  const { limiter, followers } = exchange.api
  const principal = found(exchange.principal)
  if (!followers.hasRoomFor(principal.tenantId))
    throw unavailable('Too many follow this server: try again, on a new connection.')
  const seat = limiter ? await limiter.follow(principal, kind) : free
  if (seat.refused !== null) {
    exchange.refusedBy = kind
    throw new Problem('too_many_requests', seat.refused, { headers: { 'retry-after': '1' } })
  }
  exchange.rest()
  return seat
}

const free: Seat = { refused: null, leave: () => {} }
