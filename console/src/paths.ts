import { type ListedName, listedNames } from '@masthead/contract'

/** The addresses of all pages but the lists of records and the records themselves; `$id` is what differs. */
const ownPaths = [
  '/',
  '/accounts/new',
  '/contacts/new',
  '/contacts/$id/edit',
  '/tasks/new',
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
  '/docs',
  '/docs/guides/paging',
  '/docs/guides/changes',
  '/docs/guides/search',
  '/docs/guides/retries',
  '/docs/guides/errors',
  '/docs/guides/pkce',
  '/docs/changelog',
] as const

type RecordPath = `/${ListedName}` | `/${ListedName}/$id`
export type OwnPath = (typeof ownPaths)[number]
export type Path = OwnPath | RecordPath

const recordPaths: readonly RecordPath[] = listedNames.flatMap((name) => [`/${name}`, `/${name}/$id`] as const)

/** Where the authorization server sends people back to. */
export const signedInPath = '/signed-in'

/** What the server answers with the console. */
export const servedPaths: readonly string[] = [...ownPaths, ...recordPaths, signedInPath]
