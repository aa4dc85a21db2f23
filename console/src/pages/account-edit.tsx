import { resources } from '@masthead/contract'
import { EditPage } from '../forms/edit-page.tsx'
import type { Section } from '../forms/form-page.tsx'

const operation = resources.accounts.operations.UpdateAccountRecord

const sections: readonly Section[] = [
  { heading: 'Company', names: ['company', 'status', 'webAddress'] },
  { heading: 'Address', names: ['address', 'suite', 'zip', 'city', 'state', 'country'] },
  { heading: 'Invoices and e-mail', names: [] },
]

export const Page = () => <EditPage name="accounts" operation={operation} sections={sections} />
