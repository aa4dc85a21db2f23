import type { ListedName } from '@masthead/contract'
import { RecordList } from '../lists/record-list.tsx'
import { RecordPage } from '../record-page/record-page.tsx'

/** The pages of a list, and of one of its records, that need nothing of their own. */
export const listPage = (name: ListedName) => ({ Page: () => <RecordList name={name} /> })
export const recordPage = (name: ListedName) => ({ Page: () => <RecordPage name={name} /> })
