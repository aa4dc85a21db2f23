/** The address of every page; `$id` is what differs. */
export const pagePaths = [
  '/',
  '/accounts',
  '/accounts/new',
  '/accounts/$id',
  '/contacts',
  '/contacts/new',
  '/contacts/$id',
  '/contacts/$id/edit',
  '/publications',
  '/publications/$id',
  '/subscriptions',
  '/subscriptions/$id',
  '/invoices',
  '/invoices/$id',
  '/tasks/new',
  '/settings/password',
  '/settings/tokens',
  '/settings/applications-allowed',
  '/admin/members',
  '/admin/service-tokens',
  '/admin/applications',
  '/admin/legacy',
  '/admin/imports',
  '/admin/audit',
  '/docs',
  '/docs/guides/paging',
  '/docs/guides/search',
  '/docs/guides/retries',
  '/docs/guides/errors',
  '/docs/guides/pkce',
  '/docs/changelog',
] as const

export type Path = (typeof pagePaths)[number]

/** Where the authorization server sends people back to. */
export const signedInPath = '/signed-in'

/** What the server answers with the console. */
export const servedPaths: readonly string[] = [...pagePaths, signedInPath]
