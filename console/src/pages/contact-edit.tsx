import { resources } from '@masthead/contract'
import { contactSections } from '../forms/contact-sections.ts'
import { EditPage } from '../forms/edit-page.tsx'

const operation = resources.contacts.operations.UpdateContactRecord

export const Page = () => <EditPage name="contacts" operation={operation} sections={contactSections} />
