import { NewButton } from '../new-button.tsx'
import { RecordList } from '../records/record-list.tsx'

export const Page = () => <RecordList name="accounts" actions={<NewButton what="account" isMain />} />
