import type { AccountInput } from '@masthead/client'
import { resources } from '@masthead/contract'
import { CreatePage } from '../forms/create-page.tsx'
import type { Section } from '../forms/form-page.tsx'
import { useMasthead } from '../session.tsx'

const { body, scope } = resources.accounts.operations.CreateAccountRecord

const sections: readonly Section[] = [
  { heading: 'Company', names: ['company', 'website', 'address', 'city', 'state', 'zip'] },
  { heading: 'First contact', names: ['firstName', 'lastName', 'title', 'phone', 'email'] },
  { heading: 'More', names: ['primaryPublicationId', 'category', 'quality'] },
]

export const Page = () => {
  const masthead = useMasthead()
  return (
    <CreatePage
      title="New account"
      scope={scope}
      input={body}
      sections={sections}
      list="/accounts"
      plural="Accounts"
      create={async (body, options) => {
        // The form asks for what the contract lists; the service says what is missing.
        const { accountId, company } = await masthead.accounts.create(body as unknown as AccountInput, options)
        return { to: '/accounts/$id', id: accountId, done: `${company} was created as account ${accountId}.` }
      }}
    />
  )
}
