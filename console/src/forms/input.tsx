import type { Content } from '@masthead/contract'
import { Checkbox } from '../design/checkbox.tsx'
import { Select } from '../design/select.tsx'
import { TextField } from '../design/text-field.tsx'
import { usePublications } from '../records/publications.ts'
import { AccountField } from './account-field.tsx'
import type { InputField } from './input-fields.ts'
import type { Form } from './use-form.ts'

/** The control for a field, as its kind asks. */
export const Input = ({ form, field, help }: { form: Form; field: InputField; help: string | undefined }) => {
  const { name, label, kind, content, isRequired, longest } = field
  const value = form.values[name] ?? null
  const shared = { label, help, isRequired, error: form.faults[name] }
  const text = {
    ...shared,
    value: typeof value === 'string' ? value : '',
    onChange: (value: string) => form.set(name, value),
  }
  switch (kind) {
    case 'check':
      return (
        <Checkbox
          {...shared}
          isChecked={value === true}
          // Nobody said, and no, mean the same: what nobody said stays so.
          onChange={(isChecked) => form.set(name, isChecked || (form.before[name] === null ? null : false))}
        />
      )
    case 'account':
      return <AccountField {...text} />
    case 'publication':
      return <PublicationField {...text} />
    case 'date':
      return <TextField {...text} type="date" />
    case 'lines':
      return <TextField {...text} longest={longest} isLong />
    case 'line':
      return <TextField {...text} longest={longest} inputMode={inputModes[content ?? 'name']} />
  }
}

/** Which keys a phone shows. What is typed is not checked: numbers and addresses of people are of all forms. */
const inputModes: Partial<Record<Content, 'email' | 'tel' | 'url'>> = { email: 'email', phone: 'tel', website: 'url' }

const PublicationField = (text: Parameters<typeof TextField>[0]) => {
  const { publications, isPending, areAll } = usePublications()
  // There are too many to choose from, or they cannot be read: the code will do.
  if (!isPending && !areAll) return <TextField {...text} />
  // What was chosen is shown by its name as soon as that is known.
  if (isPending) return <Select {...text} options={[[text.value, text.value === '' ? 'None' : '…']]} />
  return (
    <Select
      {...text}
      options={[['', 'None'], ...publications.map(({ id, name, code }) => [id, name ?? code] as const)]}
    />
  )
}
