import { type ListedName, listedNames } from '@masthead/contract'

/** The addresses of all pages but the lists of records and the records themselves; `$id` is what differs. */
const ownPaths = [
  '/',
  '/accounts/new',
  '/accounts/$id/edit',
  '/contacts/new',
  '/contacts/$id/edit',
  '/tasks/new',
  '/tasks/$id/edit',
  '/settings/password',
  '/settings/tokens',
  '/settings/applications-allowed',
  '/admin/members',
  '/admin/service-tokens',
  '/admin/applications',
  '/admin/webhooks',
  '/admin/webhooks/$id',
  '/admin/imports',
  '/admin/imports/new',
  '/admin/imports/$id',
  '/admin/audit',
  '/admin/settings',
  '/docs',
  '/docs/guides/paging',
  '/docs/guides/changes',
  '/docs/guides/search',
  '/docs/guides/retries',
  '/docs/guides/errors',
  '/docs/guides/pkce',
  '/docs/changelog',
  '/docs/reference',
] as const

type RecordPath = `/${ListedName}` | `/${ListedName}/$id`
export type OwnPath = (typeof ownPaths)[number]
export type Path = OwnPath | RecordPath

const recordPaths: readonly RecordPath[] = listedNames.flatMap((name) => [`/${name}`, `/${name}/$id`] as const)

/** Where the authorization server sends people back to. */
export const signedInPath = '/signed-in'

/** The portal is the same for all tenants, and open to everybody. */
export const isOfPortal = (pathname: string): boolean => /^\/docs(?=\/|$)/.test(pathname)

const tenantPattern = /^\/t\/([^/]+)(?=\/|$)/

/** The slug of the tenant that an address names, so that each tab has its own; null in addresses from before there was one. */
export const tenantIn = (pathname: string): string | null => tenantPattern.exec(pathname)?.[1] ?? null
export const withoutTenant = (pathname: string): string => pathname.replace(tenantPattern, '') || '/'
export const inTenant = (slug: string, pathname: string): string =>
  isOfPortal(pathname) ? pathname : `/t/${slug}${withoutTenant(pathname)}`

const paths: readonly string[] = [...ownPaths, ...recordPaths]

/** What the server answers with the console. */
export const servedPaths: readonly string[] = [
  ...paths,
  ...paths.filter((path) => !isOfPortal(path)).map((path) => inTenant('$tenant', path)),
  signedInPath,
]
