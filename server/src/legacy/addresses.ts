import { type LookupAddress, lookup as lookUp } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Refusal } from '../refusal.ts'

/** Addresses of IPv4 that are not of the public internet: the registries of special purposes (RFC 6890) and multicast. */
const specialIpv4 = new BlockList()
for (const network of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]) {
  const [address = '', prefix] = network.split('/')
  specialIpv4.addSubnet(address, Number(prefix), 'ipv4')
}

/**
 * IPv6 is the other way round: only global unicast is public. That leaves out loopback, link-local, unique local,
 * multicast, and the mapped and NAT64 forms under which an address of IPv4 could come again.
 */
const globalIpv6 = new BlockList()
globalIpv6.addSubnet('2000::', 3, 'ipv6')
/** Protocol assignments (Teredo among them), documentation, and 6to4, which holds an address of IPv4. */
const specialIpv6 = new BlockList()
specialIpv6.addSubnet('2001::', 23, 'ipv6')
specialIpv6.addSubnet('2001:db8::', 32, 'ipv6')
specialIpv6.addSubnet('2002::', 16, 'ipv6')
specialIpv6.addSubnet('3fff::', 20, 'ipv6')

export const isPublicAddress = (address: string): boolean => {
  const [bare = ''] = address.split('%')
  if (isIP(bare) === 4) return !specialIpv4.check(bare, 'ipv4')
  return isIP(bare) === 6 && globalIpv6.check(bare, 'ipv6') && !specialIpv6.check(bare, 'ipv6')
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
