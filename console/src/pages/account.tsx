import { NewButton } from '../new-button.tsx'
import { RecordPage } from '../records/record-page.tsx'
import { RelatedRecords } from '../records/related-records.tsx'

/** The account with all that belongs to it, deleted and hidden records too. */
export const Page = () => (
  <RecordPage
    name="accounts"
    actions={({ accountId }) => (
      <>
        <NewButton what="contact" parameters={{ accountId: String(accountId) }} />
        <NewButton what="task" parameters={{ accountId: String(accountId) }} />
      </>
    )}
  >
    {(record) => {
      const accountId = String(record.accountId)
      return (
        <>
          <RelatedRecords
            name="contacts"
            parameters={{ accountId, includeHidden: 'true', includeSubsOnly: 'true', includeDeleted: 'true' }}
            columns={['title', 'email', 'phone']}
          />
          <RelatedRecords
            name="subscriptions"
            parameters={{ accountId, includeDeleted: 'true' }}
            columns={['publicationId', 'status', 'startDate', 'expireDate', 'copies', 'totalDue']}
          />
          <RelatedRecords
            name="invoices"
            parameters={{ accountId }}
            columns={['status', 'issueDate', 'dueDate', 'total', 'totalDue']}
          />
        </>
      )
    }}
  </RecordPage>
)
