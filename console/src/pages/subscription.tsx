import { RecordPage } from '../records/record-page.tsx'
import { RenewalChain } from '../records/renewal-chain.tsx'

export const Page = () => (
  <RecordPage name="subscriptions">{(record) => <RenewalChain subscriptionId={record.id} />}</RecordPage>
)
