import { RecordList } from '../lists/record-list.tsx'
import { NewButton } from '../new-button.tsx'

export const Page = () => <RecordList name="accounts" actions={<NewButton what="account" isMain />} />
