import { RecordPage } from '../records/record-page.tsx'

export const Page = () => <RecordPage name="contacts" />
