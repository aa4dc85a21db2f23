import { NewButton } from '../new-button.tsx'
import { RecordPage } from '../records/record-page.tsx'

export const Page = () => (
  <RecordPage
    name="accounts"
    actions={({ accountId }) => (
      <>
        <NewButton what="contact" parameters={{ accountId: String(accountId) }} />
        <NewButton what="task" parameters={{ accountId: String(accountId) }} />
      </>
    )}
  />
)
