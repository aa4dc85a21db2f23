import { RecordPage } from '../record-page/record-page.tsx'
import { RenewalChain } from '../record-page/renewal-chain.tsx'

export const Page = () => (
  <RecordPage name="subscriptions">{(record) => <RenewalChain subscriptionId={record.id} />}</RecordPage>
)
