import { basePath, operations, type Scope } from '@masthead/contract'

/**
 * A call that works with the token and changes nothing: a list that it may see; else what it may write, without what that
 * needs, so that the answer tells what is missing.
 */
export const curlFor = (token: string, scopes: readonly Scope[]): string => {
  const allowed = operations.filter(({ operation }) => scopes.some((scope) => scope === operation.scope))
  const call =
    allowed.find(({ operation: { method, path } }) => method === 'GET' && !path.includes('{')) ??
    allowed.find(({ operation: { method, path } }) => method === 'POST' && !path.includes('{'))
  const { method, path } = call?.operation ?? { method: 'GET', path: '/contacts' }
  // Double quotes mean the same to the shells of all systems.
  const parts = [`curl "${location.origin}${basePath}${path}${method === 'GET' ? '?pageSize=5' : ''}"`]
  parts.push(`--header "Authorization: Bearer ${token}"`)
  if (method === 'POST') parts.push('--header "Content-Type: application/json" --data "{}"')
  return parts.join(' ')
}
