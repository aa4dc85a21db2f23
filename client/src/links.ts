/**
 * A parameter of the address to which a `Link` header leads by this relation. Only that is taken, so that the token goes nowhere but to
 * `baseUrl`, whatever the service calls itself.
 */
export const parameterIn = (header: string | null, relation: string, parameter: string): string | null => {
  for (const [, address = '', name] of (header ?? '').matchAll(/<([^>]*)>\s*;\s*rel="([^"]*)"/g))
    if (name === relation) return new URL(address).searchParams.get(parameter)
  return null
}
