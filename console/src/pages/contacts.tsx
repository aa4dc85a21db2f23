import { useParameters } from '../address.tsx'
import { ContactBulk } from '../lists/contact-bulk.tsx'
import { RecordList } from '../lists/record-list.tsx'
import { NewButton } from '../new-button.tsx'
import { useMay } from '../permission.tsx'

export const Page = () => {
  const { accountId } = useParameters()
  const mayWrite = useMay('contacts:write')
  return (
    <RecordList
      name="contacts"
      actions={<NewButton what="contact" parameters={{ accountId }} isMain />}
      bulk={mayWrite ? (chosen, onDone) => <ContactBulk chosen={chosen} onDone={onDone} /> : undefined}
    />
  )
}
