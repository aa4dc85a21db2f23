import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A caller that hung up before its address was read has none. */
const unknownAddress = 'unknown'

/** Matches `1.2.3.4`, `1.2.3.4:567`, `[::1]` and `[::1]:567`, also in quotation marks (RFC 7239 §6); a bare `::1` has no port. */
const entryShape = /^"?(?:(?<v4>[\d.]+)|\[(?<bracketed>[^\]]+)\])(?::\d{1,5})?"?$/

/** Reads the address of a socket or an entry of `X-Forwarded-For`, without port and zone, and IPv4-mapped IPv6 as IPv4. */
const readAddress = (entry: string): string | null => {
  const text = entry.trim()
  const { v4, bracketed } = entryShape.exec(text)?.groups ?? {}
  const [address = ''] = (v4 ?? bracketed ?? text).split('%', 1)
  if (isIP(address) !== 6) return isIPv4(address) ? address : null
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '')
}

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
 * Reads the address of the caller: the socket, or the last entry of `X-Forwarded-For` that no trusted proxy wrote. Where
 * that entry is no address, the proxy counts as the caller, because a caller could make up any number of such entries.
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

/** Reads the scheme by which the caller reached the nearest trusted proxy, or this server. */
export const schemeReader = (trustedProxies: readonly string[]): ((request: IncomingMessage) => string) => {
  const isTrusted = trustOf(trustedProxies)
  return ({ socket, headers }) => {
    const schemes = String(headers['x-forwarded-proto'] ?? '').split(',')
    return (isTrusted(socket.remoteAddress ?? '') && schemes.at(-1)?.trim()) || 'http'
  }
}

/** A caller with one IPv6 address has its whole /64. */
export const networkOf = (address: string): string =>
  address.includes(':') ? ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':') : address
