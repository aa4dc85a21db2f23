import { RecordPage } from '../records/record-page.tsx'
import { RelatedRecords } from '../records/related-records.tsx'

export const Page = () => (
  <RecordPage name="publications">
    {({ id }) => (
      <>
        <RelatedRecords
          name="subscriptions"
          parameters={{ publicationId: id }}
          columns={['accountId', 'status', 'startDate', 'expireDate', 'copies']}
        />
        <RelatedRecords
          name="invoices"
          parameters={{ publicationId: id }}
          columns={['accountId', 'status', 'issueDate', 'total', 'totalDue']}
        />
      </>
    )}
  </RecordPage>
)
