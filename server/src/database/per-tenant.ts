const mostRemembered = 1_000

/** What is made of a tenant's id alone is made once, not for each request. */
export const perTenant = <T>(make: (tenantId: string) => T): ((tenantId: string) => T) => {
  const made = new Map<string, T>()
  return (tenantId) => {
    const known = made.get(tenantId)
    if (known !== undefined) return known
    if (made.size >= mostRemembered) made.clear()
    const one = make(tenantId)
    made.set(tenantId, one)
    return one
  }
}
