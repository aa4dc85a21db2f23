import type { ComponentType } from 'react'

/** What a file in pages/ holds. */
export type PageModule = { Page: ComponentType }
type Load = () => Promise<PageModule>

/**
 * Every page by its path, loaded when it is opened. To add one: its file, and a line here. Whoever is not signed in sees
 * only those below `/docs`.
 */
export const pages = {
  '/': () => import('./pages/overview.tsx'),
  '/accounts': () => import('./pages/accounts.tsx'),
  '/accounts/$id': () => import('./pages/account.tsx'),
  '/contacts': () => import('./pages/contacts.tsx'),
  '/contacts/$id': () => import('./pages/contact.tsx'),
  '/publications': () => import('./pages/publications.tsx'),
  '/publications/$id': () => import('./pages/publication.tsx'),
  '/subscriptions': () => import('./pages/subscriptions.tsx'),
  '/subscriptions/$id': () => import('./pages/subscription.tsx'),
  '/invoices': () => import('./pages/invoices.tsx'),
  '/invoices/$id': () => import('./pages/invoice.tsx'),
  '/docs': () => import('./docs/start.tsx'),
} satisfies Record<string, Load>

export type Path = keyof typeof pages

/** Where the authorization server sends people back to. */
export const signedInPath = '/signed-in'

/** What the server answers with the console. */
export const paths: readonly string[] = [...Object.keys(pages), signedInPath]
