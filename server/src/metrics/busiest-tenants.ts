/** Each tenant shown is a time series on every node. */
const mostShown = 100
/** Recent requests weigh more than older ones. */
const decay = 0.8

/**
 * Counts requests for each of the busiest tenants and for all others together. A tenant is counted from when it becomes
 * one of the busiest and dropped when it no longer is, so no counter ever decreases.
 */
export class BusiestTenants {
  shown = new Map<string, { requests: number; weight: number }>()
  others = 0

  /** Adds the requests since the last call. */
  add(tenantRequests: ReadonlyMap<string, number>): void {
    const weights = new Map([...this.shown].map(([id, { weight }]) => [id, weight * decay]))
    for (const [id, requests] of tenantRequests) if (id !== '') weights.set(id, (weights.get(id) ?? 0) + requests)
    const busiest = [...weights].sort(([, one], [, other]) => other - one).slice(0, mostShown)
    const requestsOf = (id: string) => (this.shown.get(id)?.requests ?? 0) + (tenantRequests.get(id) ?? 0)
    this.shown = new Map(busiest.map(([id, weight]) => [id, { requests: requestsOf(id), weight }]))
    for (const [id, requests] of tenantRequests) if (!this.shown.has(id)) this.others += requests
  }
}
