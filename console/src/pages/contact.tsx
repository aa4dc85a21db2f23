import type { Contact } from '@masthead/client'
import { RecordPage } from '../record-page/record-page.tsx'
import { ContactActions } from '../records/contact-actions.tsx'

export const Page = () => (
  <RecordPage
    name="contacts"
    // By its name, the record is a contact.
    actions={(record) => <ContactActions contact={record as unknown as Contact} />}
  />
)
