import { useParameters } from '../address.tsx'
import { RecordList } from '../lists/record-list.tsx'
import { NewButton } from '../new-button.tsx'

export const Page = () => {
  const { accountId } = useParameters()
  return <RecordList name="tasks" actions={<NewButton what="task" parameters={{ accountId }} isMain />} />
}
