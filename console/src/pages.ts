import type { ComponentType } from 'react'
import type { Path } from './paths.ts'

/** What a file in pages/ exports. */
type PageModule = { Page: ComponentType }

/**
 * Every page, loaded when it is opened. To add one: its file, its path in paths.ts, a line here, and one in sidebar.tsx if it
 * is to be found there. Whoever is not signed in sees only those below `/docs`.
 */
export const pages: Record<Path, () => Promise<PageModule>> = {
  '/': () => import('./pages/overview.tsx'),
  '/accounts': () => import('./pages/accounts.tsx'),
  '/accounts/new': () => import('./pages/account-new.tsx'),
  '/accounts/$id': () => import('./pages/account.tsx'),
  '/contacts': () => import('./pages/contacts.tsx'),
  '/contacts/new': () => import('./pages/contact-new.tsx'),
  '/contacts/$id': () => import('./pages/contact.tsx'),
  '/contacts/$id/edit': () => import('./pages/contact-edit.tsx'),
  '/publications': () => import('./pages/publications.tsx'),
  '/publications/$id': () => import('./pages/publication.tsx'),
  '/subscriptions': () => import('./pages/subscriptions.tsx'),
  '/subscriptions/$id': () => import('./pages/subscription.tsx'),
  '/invoices': () => import('./pages/invoices.tsx'),
  '/invoices/$id': () => import('./pages/invoice.tsx'),
  '/tasks/new': () => import('./pages/task-new.tsx'),
  '/settings/password': () => import('./pages/password.tsx'),
  '/settings/tokens': () => import('./pages/tokens.tsx'),
  '/settings/applications-allowed': () => import('./pages/applications-allowed.tsx'),
  '/admin/members': () => import('./pages/members.tsx'),
  '/admin/service-tokens': () => import('./pages/service-tokens.tsx'),
  '/admin/applications': () => import('./pages/applications.tsx'),
  '/admin/legacy': () => import('./pages/legacy.tsx'),
  '/admin/imports': () => import('./pages/imports.tsx'),
  '/admin/audit': () => import('./pages/audit.tsx'),
  '/docs': () => import('./docs/start.tsx'),
  '/docs/guides/paging': () => import('./docs/guides/paging.tsx'),
  '/docs/guides/search': () => import('./docs/guides/search.tsx'),
  '/docs/guides/retries': () => import('./docs/guides/retries.tsx'),
  '/docs/guides/errors': () => import('./docs/guides/errors.tsx'),
  '/docs/guides/pkce': () => import('./docs/guides/pkce.tsx'),
  '/docs/changelog': () => import('./docs/changelog.tsx'),
}
