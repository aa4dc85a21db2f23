import { type ListedName, longest } from '@masthead/contract'
import { type AnyRecord, titleOf } from '../records/kinds.ts'

/** What the page of a record is called. A description can be as long as a letter, which then stands among the facts. */
export const headingOf = (name: ListedName, record: AnyRecord): string => {
  const letters = [...titleOf(name, record)]
  return letters.length > longest.name ? `${letters.slice(0, longest.name).join('')}…` : letters.join('')
}
