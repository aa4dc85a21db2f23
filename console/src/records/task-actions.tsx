import type { TaskRecord } from '@masthead/client'
import { Link } from '../address.tsx'
import { useMay } from '../permission.tsx'
import { useMasthead } from '../session.tsx'
import { titleOf } from './kinds.ts'
import { ActionTrouble, useAction } from './record-action.tsx'

/** What can be done with a task, by who may. */
export const TaskActions = ({ task }: { task: TaskRecord }) => {
  const masthead = useMasthead()
  const isOpen = task.doneAt === null
  const title = titleOf('tasks', { ...task })
  const marking = useAction('tasks', task, isOpen ? `“${title}” is done.` : `“${title}” is open again.`)
  if (!useMay('tasks:write')) return null
  return (
    <>
      <ActionTrouble error={marking.trouble} singular="task" />
      <button
        type="button"
        className={isOpen ? 'button primary' : 'button'}
        aria-disabled={marking.isBusy}
        onClick={() =>
          marking.act((ifMatch) =>
            masthead.tasks.update(task.id, { doneAt: isOpen ? new Date().toISOString() : null }, { ifMatch }),
          )
        }
      >
        {isOpen ? 'Done' : 'Open again'}
      </button>
      <Link to="/tasks/$id/edit" id={task.id} className="button">
        Edit
      </Link>
    </>
  )
}
