import type { TaskInput, TaskRecord } from '@masthead/client'
import { resources } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, Fragment, useEffect, useRef, useState } from 'react'
import { Link } from '../address.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatDate, formatNumber } from '../design/formats.ts'
import { PlusIcon } from '../design/icons.tsx'
import { Trouble } from '../design/states.tsx'
import { DraftNote } from '../forms/draft-note.tsx'
import { Input } from '../forms/input.tsx'
import { inputFieldsOf, valuesOf } from '../forms/input-fields.ts'
import { LeaveGuard } from '../forms/leave-guard.tsx'
import { useSendDraftOnce } from '../forms/send-once.ts'
import { useForm } from '../forms/use-form.ts'
import { useMay } from '../permission.tsx'
import { ActionTrouble, useAction } from '../records/record-action.tsx'
import { useToday } from '../records/today.ts'
import { useMasthead } from '../session.tsx'

const most = 10

/** What is to be done for an account, to be marked as done in place, and a form for more. */
export const AccountTasks = ({ accountId, heading }: { accountId: string; heading: string }) => {
  const masthead = useMasthead()
  const mayWrite = useMay('tasks:write')
  const [isAdding, setAdding] = useState(false)
  const query = useQuery({
    queryKey: ['tasks', 'of', accountId],
    queryFn: ({ signal }) =>
      masthead.tasks
        .list({ accountId, open: true, sort: 'dueDate', pageSize: most }, { signal })
        .then(({ items, total }) => ({ items, total })),
  })
  const total = query.data?.total ?? null
  return (
    <section className="card tasks" aria-labelledby="tasks">
      <div className="section-head">
        <h2 id="tasks">
          {heading}
          {/* Of more than are shown, how many there are. */}
          {total !== null && total > most && <span className="muted number"> {formatNumber(total)}</span>}
        </h2>
        <Link to="/tasks" parameters={{ accountId }}>
          All tasks
        </Link>
      </div>
      <Fetched query={query} what="tasks">
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">Nothing is to be done.</p>
          ) : (
            <ul className="task-list">
              {items.map((task) => (
                <Task key={task.id} task={task} mayWrite={mayWrite} />
              ))}
            </ul>
          )
        }
      </Fetched>
      {mayWrite &&
        (isAdding ? (
          <NewTask accountId={accountId} onEnd={() => setAdding(false)} />
        ) : (
          <div>
            <button type="button" className="button" onClick={() => setAdding(true)}>
              <PlusIcon />
              Add a task
            </button>
          </div>
        ))}
    </section>
  )
}

const Task = ({ task, mayWrite }: { task: TaskRecord; mayWrite: boolean }) => {
  const masthead = useMasthead()
  const marking = useAction('tasks', task, `“${task.title}” is done.`)
  const today = useToday()
  const isLate = today !== undefined && task.dueDate < today
  return (
    <li>
      {mayWrite && (
        <button
          type="button"
          className="button"
          aria-label={`Done: ${task.title}`}
          aria-disabled={marking.isBusy}
          onClick={() => marking.act(async () => masthead.tasks.update(task.id, { doneAt: new Date().toISOString() }))}
        >
          Done
        </button>
      )}
      <span className="task-what">
        <Link to="/tasks/$id" id={task.id}>
          <bdi>{task.title}</bdi>
        </Link>
        <small className="muted">
          <time dateTime={task.dueDate} className={isLate ? 'late' : undefined}>
            {isLate && 'Overdue, '}
            {formatDate(task.dueDate)}
          </time>
          {[task.userId, task.priority, task.type].filter(Boolean).map((detail) => (
            <Fragment key={detail}>
              {' · '}
              <bdi>{detail}</bdi>
            </Fragment>
          ))}
        </small>
        <ActionTrouble error={marking.trouble} singular="task" />
      </span>
    </li>
  )
}

const { body } = resources.tasks.operations.CreateTaskRecord
const fields = inputFieldsOf(body)
const blank = valuesOf(fields)

const NewTask = ({ accountId, onEnd }: { accountId: string; onEnd: () => void }) => {
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const name = `tasks of ${accountId}`
  const sendOnce = useSendDraftOnce(name)
  const element = useRef<HTMLFormElement>(null)
  const form = useForm({
    name,
    fields,
    before: blank,
    opened: { ...blank, accountId },
    send: async (body) => {
      // The cast takes the form for complete: it asks for what the contract lists, and the service says what is missing.
      await sendOnce(body, (idempotencyKey) => masthead.tasks.create(body as unknown as TaskInput, { idempotencyKey }))
      queryClient.invalidateQueries({ queryKey: ['tasks'] })
      return onEnd
    },
  })
  const { refusals } = form
  const cancel = () => {
    form.draft.forget()
    onEnd()
  }
  useEffect(() => {
    const wanted = refusals === 0 ? 'input' : '[aria-invalid="true"], .form-trouble'
    element.current?.querySelector<HTMLElement>(wanted)?.focus()
  }, [refusals])
  return (
    <form
      ref={element}
      className="task-form"
      aria-label="New task"
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        form.submit()
      }}
    >
      <DraftNote draft={form.draft} />
      {form.trouble !== undefined && (
        <div className="form-trouble" tabIndex={-1}>
          <Trouble error={form.trouble} />
        </div>
      )}
      <div className="form-grid">
        {fields
          // It is the account of this page.
          .filter(({ kind }) => kind !== 'account')
          .map((field) => (
            <Input key={field.name} form={form} field={field} help={undefined} />
          ))}
      </div>
      <div className="with-buttons">
        <button type="submit" className="button primary" aria-disabled={form.isSending}>
          Add
        </button>
        <button type="button" className="button" onClick={cancel}>
          Cancel
        </button>
      </div>
      <LeaveGuard form={form} />
    </form>
  )
}
