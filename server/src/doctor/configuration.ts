import { isIP } from 'node:net'
import type { Config } from '../config.ts'
import { nearestName } from '../nearest-name.ts'
import { type Check, failure, ok, warning } from './finding.ts'

/** Each mistake is a finding of its own, named after the variable. */
export const mistakeChecks = (mistakes: Record<string, string>): Record<string, Check> => {
  const check = (mistake: string) => () => failure(mistake, 'mend it; until then nothing starts')
  const wrong = Object.entries(mistakes).map(([name, mistake]) => [name, check(mistake)])
  return wrong.length > 0 ? Object.fromEntries(wrong) : { configuration: () => ok('every variable can be read') }
}

/** A misspelt variable is read by nobody, and its default applies. */
export const unknownVariables = (unknown: readonly string[], known: readonly string[]): Record<string, Check> =>
  Object.fromEntries(
    unknown.map((name) => {
      const plain = name.replace(/^MASTHEAD_/i, '')
      const meant = known.includes(plain) ? plain : nearestName(name, known)
      const remedy = meant
        ? `name it ${meant}`
        : 'remove it; docs/reference/configuration.md lists those that there are'
      return [name, () => warning('no variable has this name, so it does nothing', remedy)]
    }),
  )

export const configurationChecks = (config: Config): Record<string, Check> => ({
  address: () => checkBaseUrl(config),
  proxies: () => checkProxies(config),
})

const checkBaseUrl = ({ baseUrl, host, port }: Config) => {
  if (baseUrl === null) {
    const own = `http://localhost:${port}`
    if (isLoopback(host)) return ok(`${own}, for callers on this machine`)
    return warning(
      `HOST lets others in, but answers and tokens name ${own}`,
      'set BASE_URL to the address under which callers reach the service',
    )
  }
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' || isLoopback(hostname)) return ok(baseUrl)
  return warning(
    `${baseUrl} is not encrypted: whoever listens on the way has the tokens`,
    'put a proxy with TLS in front, and set BASE_URL to its https address',
  )
}

const checkProxies = ({ trustedProxies, baseUrl }: Config) => {
  if (trustedProxies.length > 0) return ok(`${trustedProxies.join(', ')} name the callers`)
  if (!baseUrl?.startsWith('https:')) return ok('none: callers connect themselves')
  return warning(
    'BASE_URL is https, so there is a proxy, but none is named: all callers seem to be the proxy, and share its limits',
    'set TRUST_PROXY to the addresses of the proxies, as in TRUST_PROXY=10.0.0.1',
  )
}

const isLoopback = (host: string): boolean => {
  const plain = host.replace(/^\[(.*)\]$/, '$1')
  return plain === 'localhost' || plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}
