import { resources } from '@masthead/contract'
import { EditPage } from '../forms/edit-page.tsx'

const operation = resources.tasks.operations.UpdateTaskRecord

export const Page = () => <EditPage name="tasks" operation={operation} sections={[{ heading: 'Task', names: [] }]} />
