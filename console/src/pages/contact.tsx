import type { Contact } from '@masthead/client'
import { ContactActions } from '../records/contact-actions.tsx'
import { RecordPage } from '../records/page/record-page.tsx'

export const Page = () => (
  <RecordPage
    name="contacts"
    // By its name, the record is a contact.
    actions={(record) => <ContactActions contact={record as unknown as Contact} />}
  />
)
