import { type LookupAddress, lookup as lookUp } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Refusal } from '../refusal.ts'

/** Nothing else of IPv6 is given to the public (RFC 4291 §2.4); the library also calls reserved addresses `unicast`. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether none of the registries of special purposes (RFC 6890) has it, and it holds no address of IPv4. */
export const isPublicAddress = (address: string): boolean => {
  const [bare = ''] = address.split('%')
  if (isIP(bare) === 0) return false
  const parsed = ipaddr.parse(bare)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(globalIpv6))
}

/** A host that has no public address. */
export class PrivateAddress extends Error {}

const onlyPublic = (addresses: readonly LookupAddress[]): LookupAddress[] => {
  const allowed = addresses.filter(({ address }) => isPublicAddress(address))
  if (allowed.length > 0) return allowed
  throw new PrivateAddress('the host has no public address')
}

/** Stands in for the lookup of a connection, so that the address that was checked is the one that is connected to. */
export const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookUp(hostname, { ...options, all: true }, (error, addresses) => {
    try {
      if (error) throw error
      const allowed = onlyPublic(addresses)
      if (options.all) callback(null, allowed)
      else callback(null, allowed[0]?.address ?? '', allowed[0]?.family)
    } catch (refused) {
      callback(refused as NodeJS.ErrnoException, '') // the error of the lookup, or ours
    }
  })
}

/** The host of a URL when it is an address itself, for which a connection looks nothing up. */
const literalOf = ({ hostname }: URL): string | null => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? null : bare
}

/** Refuses a host that is an address itself and not a public one; names are checked when they are looked up. */
export const requirePublicLiteral = (url: URL): void => {
  const address = literalOf(url)
  if (address !== null && !isPublicAddress(address)) throw new PrivateAddress('the host is not a public address')
}

const remedy = 'LEGACY_ALLOW_PRIVATE=true allows it'

/** The address of a legacy system as an operator gave it. */
export const readLegacyUrl = async (given: string, allowPrivate: boolean): Promise<string> => {
  const url = URL.parse(given)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new Refusal('--url must be an address like https://legacy.example/masthead')
  }
  if (url.username || url.password) {
    throw new Refusal('--url must not hold a user or a password: deliveries are signed instead')
  }
  if (url.hash) throw new Refusal('--url must not have a part after #: it is never sent')
  if (allowPrivate) return url.href
  if (url.protocol === 'http:') throw new Refusal(`--url must begin with https://; ${remedy}`)
  try {
    requirePublicLiteral(url)
    await resolvePublic(url.hostname)
  } catch (error) {
    if (!(error instanceof PrivateAddress)) throw new Refusal(`the host ${url.hostname} cannot be found`)
    throw new Refusal(`${url.hostname} is a private address; ${remedy}`)
  }
  return url.href
}

const resolvePublic = (hostname: string): Promise<void> =>
  new Promise((resolve, reject) => {
    lookUpPublic(hostname.replace(/^\[(.*)\]$/, '$1'), {}, (error) => (error ? reject(error) : resolve()))
  })

/** What may be shown of it: some systems carry a key in their query. */
export const shownUrl = (address: string): string => {
  const url = new URL(address)
  return url.origin + url.pathname + (url.search && '?…')
}
