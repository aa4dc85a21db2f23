import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Where a request came from, in the one form that each address has here; and the network that it is counted by. */

/** Of nobody, who hung up before the address was read. */
const unknownAddress = 'unknown'

/** `1.2.3.4`, `1.2.3.4:567`, `[::1]` or `[::1]:567`, in quotation marks too (RFC 7239 §6); a bare `::1` has no port. */
const entryShape = /^"?(?:(?<v4>[\d.]+)|\[(?<bracketed>[^\]]+)\])(?::\d{1,5})?"?$/

/**
 * The address that an entry of `X-Forwarded-For` or a socket names, without port and zone; null when it names none. An
 * address of IPv4 that is written as one of IPv6 is the one of IPv4.
 */
const readAddress = (entry: string): string | null => {
  const text = entry.trim()
  const { v4, bracketed } = entryShape.exec(text)?.groups ?? {}
  const [address = ''] = (v4 ?? bracketed ?? text).split('%', 1)
  if (isIP(address) !== 6) return isIPv4(address) ? address : null
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '')
}

/** Tells the addresses of trusted proxies, however an entry writes them. */
const trustOf = (networks: readonly string[]): ((entry: string) => boolean) => {
  const trusted = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(prefix), family)
  }
  return (entry) => {
    const address = readAddress(entry)
    return address !== null && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }
}

/**
 * Tells the address of the caller. It begins with the socket, and goes on as long as a trusted proxy vouches for the next
 * entry of `X-Forwarded-For`. Where that is no address, the proxy is the caller: whatever a caller can make up must not be
 * counted on its own.
 */
export const addressReader = (trustedProxies: readonly string[]): ((request: IncomingMessage) => string) => {
  const isTrusted = trustOf(trustedProxies)
  return ({ socket, headers }) => {
    let entry = socket.remoteAddress ?? ''
    let address = readAddress(entry)
    // RFC 9110 §5.6.1.2: a recipient must "parse and ignore a reasonable number of empty list elements".
    const entries = String(headers['x-forwarded-for'] ?? '').split(',')
    const forwarded = entries.filter((entry) => entry.trim() !== '')
    while (forwarded.length > 0 && isTrusted(entry)) {
      entry = forwarded.pop() ?? ''
      address = readAddress(entry) ?? address
    }
    return address ?? unknownAddress
  }
}

/** Tells by which scheme the caller came to the first of the trusted proxies, or to us. */
export const schemeReader = (trustedProxies: readonly string[]): ((request: IncomingMessage) => string) => {
  const isTrusted = trustOf(trustedProxies)
  return ({ socket, headers }) => {
    const forwarded = String(headers['x-forwarded-proto'] ?? '')
      .split(',')
      .at(-1)
      ?.trim()
    return forwarded && isTrusted(socket.remoteAddress ?? '') ? forwarded : 'http'
  }
}

/** Who has one IPv6 address has its whole /64. */
export const networkOf = (address: string): string =>
  address.includes(':') ? ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':') : address
