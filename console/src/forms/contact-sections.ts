import type { Section } from './form-page.tsx'

export const contactSections: readonly Section[] = [
  { heading: 'Person', names: ['accountId', 'name', 'firstName', 'lastName', 'title'] },
  { heading: 'How to reach them', names: ['email', 'phone', 'extension', 'phone2', 'doNotEmail'] },
  { heading: 'More', names: [] },
]
