import { useParameters } from '../address.tsx'
import { NewButton } from '../new-button.tsx'
import { RecordList } from '../records/record-list.tsx'

export const Page = () => {
  const { accountId } = useParameters()
  return <RecordList name="tasks" actions={<NewButton what="task" parameters={{ accountId }} isMain />} />
}
