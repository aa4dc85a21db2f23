import type { ContactInput } from '@masthead/client'
import { resources } from '@masthead/contract'
import { contactSections } from '../forms/contact-sections.ts'
import { CreatePage } from '../forms/create-page.tsx'
import { titleOf } from '../records/kinds.ts'
import { useMasthead } from '../session.tsx'

const { body, scope } = resources.contacts.operations.CreateContactRecord

export const Page = () => {
  const masthead = useMasthead()
  return (
    <CreatePage
      title="New contact"
      scope={scope}
      input={body}
      sections={contactSections}
      list="/contacts"
      plural="Contacts"
      create={async (body, options) => {
        // The form asks for what the contract lists; the service says what is missing.
        const contact = await masthead.contacts.create(body as unknown as ContactInput, options)
        return { to: '/contacts/$id', id: contact.id, done: `${titleOf('contacts', { ...contact })} was created.` }
      }}
    />
  )
}
