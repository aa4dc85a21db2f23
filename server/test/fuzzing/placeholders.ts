import fc from 'fast-check'

/**
 * What only the service can tell, an identifier, a tag or a cursor, stands in a fuzzed request as the n-th of those that
 * its sender knows. A placeholder survives percent-encoding and JSON.
 */
export const knownAs = (pool: string): fc.Arbitrary<string> => fc.nat(200).map((index) => `~${pool}.${index}~`)

export const fill = (text: string, pools: ReadonlyMap<string, readonly string[]>): string =>
  text.replaceAll(/~([a-z-]+)\.(\d+)~/g, (placeholder, pool: string, index: string) => {
    const known = pools.get(pool) ?? []
    return known[Number(index) % known.length] ?? placeholder
  })

/** The names of records, by either identifier: of the sender's tenant and of another. */
export const poolOf = { own: (resource: string) => resource, theirs: (resource: string) => `their-${resource}` }
