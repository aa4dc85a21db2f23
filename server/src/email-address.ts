import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { invalidProperty } from './problem.ts'

/** For a class of a regular expression: what stands in no part of an address, unless it is quoted (RFC 5321, with the letters of RFC 6531). */
export const inNoAddress = String.raw`\s@<>()[\]\\",;:\p{Cc}\p{Cf}`
const localPart = new RegExp(String.raw`^(?:[^${inNoAddress}]+|"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])+")$`, 'u')
/** `domainToASCII` reads a domain as that of a URL: it would drop what follows the first three of these, and decode what follows the last. */
const inUrls = '/?#%'
const domainText = new RegExp(`^[^${inNoAddress}${inUrls}]+$`, 'u')
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** What keeps a text from being an e-mail address; null when it can be one. */
const wrongInAddress = (text: string): string | null => {
  const at = text.lastIndexOf('@')
  if (at < 0) return 'it has no @'
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (local === '') return 'nothing stands before its @'
  if (domain === '') return 'nothing stands behind its @'
  if (!localPart.test(local)) {
    if (/@/.test(local) && !local.startsWith('"')) return 'it has more than one @: give one address'
    return 'what stands before its @ has a space or a character that no address has'
  }
  return isDomain(domain) ? null : 'what stands behind its @ is no domain, such as example.com'
}

/** A name of several labels, in letters of any script, or the address of a host in brackets. */
const isDomain = (domain: string): boolean => {
  const [, literal] = /^\[(?:IPv6:)?([0-9a-f.:]+)\]$/i.exec(domain) ?? []
  if (literal !== undefined) return isIP(literal) > 0
  if (isIP(domain) > 0 || !domainText.test(domain)) return false
  const labels = domainToASCII(domain).split('.')
  return labels.length > 1 && labels.every((one) => label.test(one)) && !/^\d+$/.test(labels.at(-1) ?? '')
}

/**
 * New input is refused where it cannot be an address. What is stored already stays, however it came here, and so does an empty text: it
 * says that there is none.
 */
export const requireAddress = (property: string, given: unknown, stored?: unknown): void => {
  if (typeof given !== 'string' || given === '' || given === stored) return
  const wrong = wrongInAddress(given)
  if (wrong) throw invalidProperty(property, 'format', `This cannot be an e-mail address: ${wrong}.`)
}
