import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Refusal } from '../refusal.ts'

/** Only these addresses of IPv6 are public (RFC 4291 §2.4); the library also calls reserved ones `unicast`. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Special-purpose addresses (RFC 6890) and IPv6 addresses that embed one of IPv4 are not public. */
export const isPublicAddress = (address: string): boolean => {
  const [bare = ''] = address.split('%')
  if (isIP(bare) === 0) return false
  const parsed = ipaddr.parse(bare)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(globalIpv6))
}

export class PrivateAddress extends Error {}

/**
 * Asks name servers itself: the lookup of the operating system occupies one of a few threads, which hash passwords and read files, too, for
 * as long as the name server of a stranger likes. The file of hosts is not read.
 */
export const resolver = new Resolver({ timeout: 2_000, tries: 2 })

const addressesOf = async (hostname: string): Promise<LookupAddress[]> => {
  // RFC 6761 §6.3: no name server is asked for it.
  if (/(^|\.)localhost\.?$/i.test(hostname)) return [{ address: '127.0.0.1', family: 4 }]
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason
  return [
    ...(ipv4.status === 'fulfilled' ? ipv4.value : []).map((address) => ({ address, family: 4 })),
    ...(ipv6.status === 'fulfilled' ? ipv6.value : []).map((address) => ({ address, family: 6 })),
  ]
}

const publicAddressesOf = async (hostname: string): Promise<[LookupAddress, ...LookupAddress[]]> => {
  const [first, ...others] = (await addressesOf(hostname)).filter(({ address }) => isPublicAddress(address))
  if (!first) throw new PrivateAddress('the host has no public address')
  return [first, ...others]
}

/** Replaces the lookup of a connection, so that it connects to the very address that was checked. */
export const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  publicAddressesOf(hostname).then(
    (allowed) => (options.all ? callback(null, allowed) : callback(null, allowed[0].address, allowed[0].family)),
    (error) => callback(error, ''),
  )
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** A connection looks up names, which are checked then, but no literal address. */
export const requirePublicLiteral = (url: URL): void => {
  const host = withoutBrackets(url.hostname)
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new PrivateAddress('the host is not a public address')
}

export const allowPrivateRemedy = 'set ALLOW_PRIVATE_ADDRESSES=true to allow it'

/** Reads the address of an endpoint. Only operators are told of the setting: admins cannot change it. */
export const readEndpointUrl = async (
  given: string,
  allowPrivate: boolean,
  giver: 'operator' | 'admin' = 'operator',
): Promise<string> => {
  const [name, remedy] = giver === 'operator' ? ['--url', `; ${allowPrivateRemedy}`] : ['`url`', '']
  const url = URL.parse(given)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new Refusal(`${name} must be an address like https://example.com/masthead`)
  }
  if (url.username || url.password) {
    throw new Refusal(
      `${name} must not hold a user or a password: leave them out, because deliveries are signed instead`,
    )
  }
  if (url.hash) throw new Refusal(`${name} must not have a part after #: leave it out, because it is never sent`)
  if (allowPrivate) return url.href
  if (url.protocol === 'http:') {
    throw new Refusal(`${name} must begin with https://, because deliveries hold records of people${remedy}`)
  }
  try {
    requirePublicLiteral(url)
    if (isIP(withoutBrackets(url.hostname)) === 0) await publicAddressesOf(url.hostname)
  } catch (error) {
    if (!(error instanceof PrivateAddress))
      throw new Refusal(
        `the host ${url.hostname} cannot be found: check its name, and the name servers of this machine`,
      )
    throw new Refusal(`the host ${url.hostname} is a private address${remedy}`)
  }
  return url.href
}

/** Some systems carry a key in their query, which must not be shown. */
export const shownUrl = (address: string): string => {
  const url = new URL(address)
  return url.origin + url.pathname + (url.search && '?…')
}
