import type { Path } from '../paths.ts'

export type Entry = { to: Path; label: string; about: string }

/** The pages of the portal, in the order in which they are read. */
export const start: Entry = { to: '/docs', label: 'Start', about: 'A token and the first call, in five minutes.' }

export const guides: readonly Entry[] = [
  {
    to: '/docs/guides/paging',
    label: 'Paging and walking',
    about: 'One page, or every record exactly once while others write.',
  },
  {
    to: '/docs/guides/changes',
    label: 'Keep a copy current',
    about: 'What has changed since last time, or as it changes.',
  },
  { to: '/docs/guides/search', label: 'Search and filters', about: 'Words, accounts, and what lists leave out.' },
  {
    to: '/docs/guides/retries',
    label: 'Retries',
    about: 'When to send again, and how nothing is done twice or overwritten.',
  },
  { to: '/docs/guides/errors', label: 'Errors', about: 'How the service says no, and every code with its cure.' },
  {
    to: '/docs/guides/pkce',
    label: 'Acting for a user',
    about: 'OAuth 2.0 with PKCE, step by step, to be tried in place.',
  },
]

export const changelog: Entry = {
  to: '/docs/changelog',
  label: 'Changelog',
  about: 'What has changed in the API, for who builds with it.',
}

export const reference: Entry = {
  to: '/docs/reference',
  label: 'Reference',
  about: 'Every operation, to be tried in place.',
}
/** For programs, so it is no page of the portal. */
export const openapi = {
  href: '/customer-api/v1/openapi.json',
  label: 'OpenAPI',
  about: 'The same as a document for programs.',
}

export const inOrder: readonly Entry[] = [start, ...guides, changelog]
