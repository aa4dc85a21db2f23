import type { TaskRecord } from '@masthead/client'
import { RecordPage } from '../record-page/record-page.tsx'
import { TaskActions } from '../records/task-actions.tsx'

export const Page = () => (
  <RecordPage
    name="tasks"
    // The cast says what the name of the page says: the record is a task.
    actions={(record) => <TaskActions task={record as unknown as TaskRecord} />}
  />
)
