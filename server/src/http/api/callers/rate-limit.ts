import { mostFollowedByToken } from '@masthead/contract'
import { networkOf } from '../../../caller-address.ts'
import { type Budget, type Counters, type Demand, type Taken, windowMilliseconds } from '../../../counters/counters.ts'
import type { Principal } from '../../../identity/principal.ts'
import { UnknownTokens } from './unknown-tokens.ts'

/** How much may be asked for; all but `atOnce` are requests a minute. */
export type RateLimits = {
  /** Calls of a token. */
  token: number
  /** Calls of all tokens of a tenant. */
  tenant: number
  /** Calls of a token in flight at once. */
  atOnce: number
  /** Requests of one address to the authorization server. */
  address: number
  /** Passwords tried from one address, and as many authorizations begun there. */
  signIn: number
  /** Tokens that an application is given for one user. */
  application: number
  /** Tokens of one address that nobody holds. */
  unknownTokens: number
}

/** What an arrived request was charged. */
export type Charge = {
  /** `RateLimit` and `RateLimit-Policy` (IETF draft) as they are now. */
  headers: () => Record<string, string>
  /** By which limit it may not go on, why, and how long it should wait. */
  refused: { limit: string; detail: string; seconds: number } | null
  /** Gives the charge back: nothing had to be read or sent. */
  refund: () => void
  /** The request is over. */
  leave: () => void
}

type Limit = Budget & { name: string; whose: string }
type Limits = { list: readonly [Limit, ...Limit[]]; policy: string }

const limitsOf = (...list: Limits['list']): Limits => ({
  list,
  policy: list.map(({ name, quota }) => `"${name}";q=${quota};w=${windowMilliseconds / 1_000}`).join(', '),
})

/** Calls that wait for news. They are counted apart from those that work. */
export type Followed = 'streams' | 'waiting calls'

/** The seat of one among those of its token; `refused` says why there is none. */
export type Seat = { refused: string | null; leave: () => void }

/** Those are counted that go on, so any number may begin in a minute. */
const anyNumber = 1_000_000_000

/** Charges requests on arrival; what is refused is charged to nobody. It waits for nothing where counts are in memory. */
export class RateLimiter {
  readonly #limits: RateLimits
  readonly #counters: Counters
  readonly #ofCallers = new WeakMap<Principal, Limits>()
  readonly unknownTokens: UnknownTokens

  constructor(limits: RateLimits, counters: Counters) {
    this.#limits = limits
    this.#counters = counters
    this.unknownTokens = new UnknownTokens(limits.unknownTokens, counters)
  }

  /** A call of the API. */
  call(principal: Principal): Charge | Promise<Charge> {
    const limits = this.#ofCallers.get(principal) ?? this.#ofCaller(principal)
    this.#ofCallers.set(principal, limits)
    return this.#charge(limits, { from: 'callers', budgets: limits.list, atOnce: this.#limits.atOnce })
  }

  /** A call that waits for news, or a stream of them. */
  async follow(principal: Principal, kind: Followed): Promise<Seat> {
    const key = `${kind} ${callerOf(principal)}`
    const budgets = [{ key, quota: anyNumber }] as const
    const { refusedBy, leave } = await this.#counters.take({ from: 'callers', budgets, atOnce: mostFollowedByToken })
    const refused = refusedBy === null ? null : `This token may have ${mostFollowedByToken} ${kind} at once.`
    return { refused, leave }
  }

  #ofCaller(principal: Principal): Limits {
    const { token, tenant } = this.#limits
    const { tenantId } = principal
    return limitsOf(
      { name: 'token', whose: 'This token', key: `token ${callerOf(principal)}`, quota: token },
      { name: 'tenant', whose: 'This tenant', key: `tenant ${tenantId}`, quota: tenant },
    )
  }

  /** A request to the authorization server. */
  visit(address: string): Charge | Promise<Charge> {
    return this.#chargeStranger('address', address, this.#limits.address)
  }

  /** An authorization request, which is stored until somebody signs in or its time is over. */
  begin(address: string): Charge | Promise<Charge> {
    return this.#chargeStranger('authorization', address, this.#limits.signIn)
  }

  /** A password that is tried. */
  signIn(address: string): Charge | Promise<Charge> {
    return this.#chargeStranger('sign-in', address, this.#limits.signIn)
  }

  /** A request for a token with a code or refresh token that this application was given for this user. */
  exchange(clientId: string, userId: string): Charge | Promise<Charge> {
    const quota = this.#limits.application
    const key = `application ${clientId} ${userId}`
    const limits = limitsOf({ name: 'application', whose: 'One user of this application', key, quota })
    return this.#charge(limits, { from: 'callers', budgets: limits.list })
  }

  #chargeStranger(name: string, address: string, quota: number): Charge | Promise<Charge> {
    const limits = limitsOf({ name, whose: 'Your address', key: `${name} ${networkOf(address)}`, quota })
    return this.#charge(limits, { from: 'strangers', budgets: limits.list })
  }

  #charge(limits: Limits, demand: Demand): Charge | Promise<Charge> {
    const taken = this.#counters.take(demand)
    return taken instanceof Promise
      ? taken.then((late) => chargeOf(limits, demand, late))
      : chargeOf(limits, demand, taken)
  }
}

/** A delegated token is renewed every few minutes; its grant stays. */
const callerOf = ({ kind, lineage, tokenId }: Principal): string => (kind === 'delegated' ? lineage : tokenId)

const chargeOf = ({ list, policy }: Limits, { atOnce = 0 }: Demand, taken: Taken): Charge => ({
  headers: () => ({
    'ratelimit-policy': policy,
    ratelimit: list
      .map(
        ({ name, quota }, place) =>
          `"${name}";r=${Math.max(0, quota - usedOf(taken, place))};t=${secondsOf(taken, place)}`,
      )
      .join(', '),
  }),
  refused: refusalOf(list, atOnce, taken),
  refund: taken.refund,
  leave: taken.leave,
})

const usedOf = ({ windows }: Taken, place: number): number => windows[place]?.used ?? 0

const secondsOf = ({ windows }: Taken, place: number): number =>
  Math.max(1, Math.ceil((windows[place]?.millisecondsLeft ?? 0) / 1_000))

const refusalOf = (limits: Limits['list'], atOnce: number, taken: Taken): Charge['refused'] => {
  const { refusedBy } = taken
  if (refusedBy === null) return null
  const [first] = limits
  if (refusedBy === 'atOnce')
    return { limit: 'at-once', detail: `${first.whose} may have ${atOnce} requests in flight at once.`, seconds: 1 }
  const { name, whose, quota } = limits[refusedBy] ?? first
  const seconds = secondsOf(taken, refusedBy)
  return { limit: name, detail: `${whose} may send ${quota} requests a minute; go on in ${seconds} s.`, seconds }
}
