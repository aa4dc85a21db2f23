/** More would make as many series, on every node. */
const mostShown = 100
/** What a tenant did a while ago weighs less than what it does now. */
const decay = 0.8

type Tenant = { requests: number; weight: number }

/**
 * Counts the requests of the busiest tenants each, and of all others together. A tenant that becomes one of the busiest
 * is counted from then on, and one that is no longer is forgotten, so that no count ever falls.
 */
export class BusiestTenants {
  readonly #shown = new Map<string, Tenant>()
  #others = 0

  /** Takes up what was counted since the last time. */
  add(tenantRequests: ReadonlyMap<string, number>): void {
    for (const tenant of this.#shown.values()) tenant.weight *= decay
    const weights = new Map([...this.#shown].map(([id, { weight }]) => [id, weight]))
    for (const [id, requests] of tenantRequests) if (id !== '') weights.set(id, (weights.get(id) ?? 0) + requests)
    const busiest = new Map([...weights].sort(([, one], [, other]) => other - one).slice(0, mostShown))
    for (const id of this.#shown.keys()) if (!busiest.has(id)) this.#shown.delete(id)
    for (const [id, requests] of tenantRequests) {
      const weight = busiest.get(id)
      if (weight === undefined) this.#others += requests
      else this.#shown.set(id, { requests: (this.#shown.get(id)?.requests ?? 0) + requests, weight })
    }
  }

  requests(): { tenants: [tenantId: string, requests: number][]; others: number } {
    return { tenants: [...this.#shown].map(([id, { requests }]) => [id, requests]), others: this.#others }
  }
}
