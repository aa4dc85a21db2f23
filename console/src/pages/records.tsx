import type { ListedName } from '@masthead/contract'
import { RecordPage } from '../records/page/record-page.tsx'
import { RecordList } from '../records/record-list.tsx'

/** The pages of a list, and of one of its records, that need nothing of their own. */
export const listPage = (name: ListedName) => ({ Page: () => <RecordList name={name} /> })
export const recordPage = (name: ListedName) => ({ Page: () => <RecordPage name={name} /> })
