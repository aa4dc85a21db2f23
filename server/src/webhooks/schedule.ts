import type { Attempt } from './attempt.ts'
import type { EndpointKind } from './endpoints/queries.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** After each failed attempt, as Standard Webhooks recommends; after the last there is no other. */
const webhookDelays = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]
const [shortestLegacyDelay, longestLegacyDelay] = [5 * second, hour]

/** `Retry-After` is obeyed up to these. */
const longestAsked = { delivery: 24 * hour, endpoint: hour }

/** Those to a legacy system double with each attempt, and end after days, not attempts. */
const delayAfter = (kind: EndpointKind, tries: number): number | null =>
  kind === 'legacy'
    ? Math.min(shortestLegacyDelay * 2 ** Math.min(tries - 1, 20), longestLegacyDelay)
    : (webhookDelays[tries - 1] ?? null)

/** The jitter keeps deliveries from being retried all at the same moment. */
export const retryDelay = (kind: EndpointKind, tries: number, random = Math.random): number | null => {
  const delay = delayAfter(kind, tries)
  return delay === null ? null : delay * (0.75 + random() / 2)
}

/** How long an endpoint that is away is left alone, after so many looks at whether it is back. */
export const pauseOfAway = (looks: number, random = Math.random): number =>
  Math.min(2 * second * 2 ** looks, minute) * (0.75 + random() / 2)

/** How long a delivery waits after a failed attempt, and how long its endpoint is left alone. */
export const pausesAfter = (
  kind: EndpointKind,
  tries: number,
  { status, retryAfter }: Pick<Attempt, 'status' | 'retryAfter'>,
  random = Math.random,
): { delivery: number | null; endpoint: number } => {
  const delay = retryDelay(kind, tries, random)
  const asked = retryAfter ?? 0
  return {
    delivery: delay === null ? null : Math.max(delay, Math.min(asked, longestAsked.delivery)),
    // Of a whole endpoint it speaks with these: RFC 9110 §15.6.4, RFC 6585 §4.
    endpoint: status === 429 || status === 503 ? Math.min(asked, longestAsked.endpoint) : 0,
  }
}
