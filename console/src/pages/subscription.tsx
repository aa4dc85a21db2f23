import { RecordPage } from '../records/page/record-page.tsx'
import { RenewalChain } from '../records/page/renewal-chain.tsx'

export const Page = () => (
  <RecordPage name="subscriptions">{(record) => <RenewalChain subscriptionId={record.id} />}</RecordPage>
)
