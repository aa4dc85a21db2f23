import type { TaskInput } from '@masthead/client'
import { resources } from '@masthead/contract'
import { formatDate } from '../design/formats.ts'
import { CreatePage } from '../forms/create-page.tsx'
import { useMasthead } from '../session.tsx'

const { body, scope } = resources.tasks.operations.CreateTaskRecord
const sections = [{ heading: 'Task', names: [] }]

export const Page = () => {
  const masthead = useMasthead()
  return (
    <CreatePage
      title="New task"
      scope={scope}
      input={body}
      sections={sections}
      list="/tasks"
      plural="Tasks"
      create={async (body, options) => {
        // The form asks for what the contract lists; the service says what is missing.
        const task = await masthead.tasks.create(body as unknown as TaskInput, options)
        const done = `The task “${task.title}” was created, to be done by ${formatDate(task.dueDate)}.`
        return { to: '/accounts/$id', id: task.accountId, done }
      }}
    />
  )
}
