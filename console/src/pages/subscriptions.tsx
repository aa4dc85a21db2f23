import { RecordList } from '../records/record-list.tsx'

export const Page = () => <RecordList name="subscriptions" />
