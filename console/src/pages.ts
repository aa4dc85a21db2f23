import { listedNames } from '@masthead/contract'
import type { ComponentType } from 'react'
import type { OwnPath, Path } from './paths.ts'

/** What a file in pages/ exports. */
type PageModule = { Page: ComponentType }

type Load = () => Promise<PageModule>

/** Of every list and its records, where they have no pages of their own below. */
const recordPages = Object.fromEntries(
  listedNames.flatMap((name): [Path, Load][] => [
    [`/${name}`, async () => (await import('./pages/records.tsx')).listPage(name)],
    [`/${name}/$id`, async () => (await import('./pages/records.tsx')).recordPage(name)],
  ]),
)

/**
 * Every page, loaded when it is opened. To add one: its file, its path in paths.ts, a line here, and one in sidebar.tsx if it
 * is to be found there. Whoever is not signed in sees only those below `/docs`.
 */
export const pages: Readonly<Record<string, Load>> = {
  ...recordPages,
  '/': () => import('./pages/overview.tsx'),
  '/accounts': () => import('./pages/accounts.tsx'),
  '/accounts/new': () => import('./pages/account-new.tsx'),
  '/accounts/$id': () => import('./pages/account.tsx'),
  '/accounts/$id/edit': () => import('./pages/account-edit.tsx'),
  '/contacts': () => import('./pages/contacts.tsx'),
  '/contacts/new': () => import('./pages/contact-new.tsx'),
  '/contacts/$id': () => import('./pages/contact.tsx'),
  '/contacts/$id/edit': () => import('./pages/contact-edit.tsx'),
  '/subscriptions/$id': () => import('./pages/subscription.tsx'),
  '/tasks': () => import('./pages/tasks.tsx'),
  '/tasks/new': () => import('./pages/task-new.tsx'),
  '/tasks/$id': () => import('./pages/task.tsx'),
  '/tasks/$id/edit': () => import('./pages/task-edit.tsx'),
  '/settings/password': () => import('./pages/password.tsx'),
  '/settings/tokens': () => import('./pages/tokens.tsx'),
  '/settings/applications-allowed': () => import('./pages/applications-allowed.tsx'),
  '/admin/members': () => import('./pages/members.tsx'),
  '/admin/service-tokens': () => import('./pages/service-tokens.tsx'),
  '/admin/applications': () => import('./pages/applications.tsx'),
  '/admin/webhooks': () => import('./pages/webhooks.tsx'),
  '/admin/webhooks/$id': () => import('./pages/webhook-endpoint.tsx'),
  '/admin/imports': () => import('./pages/imports.tsx'),
  '/admin/imports/new': () => import('./pages/import-new.tsx'),
  '/admin/imports/$id': () => import('./pages/import-run.tsx'),
  '/admin/audit': () => import('./pages/audit.tsx'),
  '/admin/settings': () => import('./pages/settings.tsx'),
  '/docs': () => import('./docs/start.tsx'),
  '/docs/guides/paging': () => import('./docs/guides/paging.tsx'),
  '/docs/guides/changes': () => import('./docs/guides/changes.tsx'),
  '/docs/guides/search': () => import('./docs/guides/search.tsx'),
  '/docs/guides/retries': () => import('./docs/guides/retries.tsx'),
  '/docs/guides/errors': () => import('./docs/guides/errors.tsx'),
  '/docs/guides/pkce': () => import('./docs/guides/pkce.tsx'),
  '/docs/changelog': () => import('./docs/changelog.tsx'),
  '/docs/reference': () => import('./docs/reference.tsx'),
} satisfies Record<OwnPath, Load> & Partial<Record<Path, Load>>
