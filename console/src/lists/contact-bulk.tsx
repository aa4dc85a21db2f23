import { type Contact, isProblem, type Masthead } from '@masthead/client'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from '../address.tsx'
import { Dialog } from '../design/dialog.tsx'
import { Question } from '../design/question.tsx'
import { type AnyRecord, isDeleted, titleOf } from '../records/kinds.ts'
import { useMasthead } from '../session.tsx'

type Action = {
  label: string
  /** What became of those with which it went well. */
  done: string
  /** Whether it would change something. */
  concerns: (contact: AnyRecord) => boolean
  act: (masthead: Masthead, contact: Contact) => Promise<unknown>
  isDangerous?: true
}

const flag = (field: 'hideContact' | 'doNotEmail', value: boolean): Pick<Action, 'concerns' | 'act'> => ({
  concerns: (contact) => !isDeleted(contact) && (contact[field] === true) !== value,
  act: (masthead, contact) =>
    masthead.contacts.update(contact.id, { accountId: contact.accountId, [field]: value }, { ifMatch: contact }),
})

const actions: readonly Action[] = [
  {
    label: 'Delete',
    done: 'deleted',
    isDangerous: true,
    concerns: (contact) => !isDeleted(contact),
    act: (masthead, contact) => masthead.contacts.delete(contact.id, { ifMatch: contact }),
  },
  {
    label: 'Restore',
    done: 'restored',
    concerns: isDeleted,
    act: (masthead, contact) => masthead.contacts.restore(contact.id, { ifMatch: contact }),
  },
  { label: 'Hide', done: 'hidden', ...flag('hideContact', true) },
  { label: 'Show again', done: 'shown again', ...flag('hideContact', false) },
  { label: 'Do not e-mail', done: 'marked “do not e-mail”', ...flag('doNotEmail', true) },
  { label: 'Allow e-mail', done: 'marked “may be e-mailed”', ...flag('doNotEmail', false) },
]

type Failure = { contact: AnyRecord; reason: string }
type Work = { action: Action; contacts: readonly AnyRecord[]; done: number; failures: readonly Failure[] }

const atOnce = 4

/** What can be done with all contacts that were chosen. Each is changed by itself, as it is then; what fails is told in the end. */
export const ContactBulk = ({ chosen, onDone }: { chosen: readonly AnyRecord[]; onDone: () => void }) => {
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<Action>()
  const [work, setWork] = useState<Work>()
  const stop = useRef(() => {})
  const start = async (action: Action) => {
    const contacts = chosen.filter(action.concerns)
    const failures: Failure[] = []
    const waiting = [...contacts]
    let isStopped = false
    stop.current = () => {
      isStopped = true
      waiting.length = 0
    }
    let done = 0
    const tell = () => setWork({ action, contacts, done, failures: [...failures] })
    setAsked(undefined)
    tell()
    const change = async () => {
      for (let contact = waiting.shift(); contact; contact = waiting.shift()) {
        try {
          // As it is now: an update names the account, and must not move a contact back that a colleague has moved.
          await action.act(masthead, await masthead.contacts.get(contact.id))
        } catch (error) {
          failures.push({ contact, reason: reasonOf(error) })
        }
        done++
        if (!isStopped) tell()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, change))
    await queryClient.invalidateQueries({ queryKey: ['contacts'] })
  }
  const close = () => {
    stop.current()
    setWork(undefined)
    onDone()
  }
  return (
    <>
      {actions
        .map((action) => ({ action, count: chosen.filter(action.concerns).length }))
        .filter(({ count }) => count > 0)
        .map(({ action, count }) => (
          <button
            key={action.label}
            type="button"
            className={action.isDangerous ? 'button danger' : 'button'}
            onClick={() => (action.isDangerous ? setAsked(action) : start(action))}
          >
            {action.label}
            {count !== chosen.length && ` (${count})`}
          </button>
        ))}
      {asked && (
        <Question
          title={`Delete ${contactsOf(chosen.filter(asked.concerns).length).toLowerCase()}?`}
          yes="Delete"
          no="Keep"
          onYes={() => start(asked)}
          onNo={() => setAsked(undefined)}
        >
          <p>Lists will leave them out, and nobody can change them. They can be restored at any time.</p>
        </Question>
      )}
      {work && <Outcome work={work} onClose={close} />}
    </>
  )
}

const Outcome = ({ work: { action, contacts, done, failures }, onClose }: { work: Work; onClose: () => void }) => {
  const isOver = done === contacts.length
  const changed = done - failures.length
  return (
    <Dialog title={action.label} onClose={onClose}>
      <output>
        {isOver
          ? `${contactsOf(changed)} ${changed === 1 ? 'was' : 'were'} ${action.done}.`
          : `${done} of ${contacts.length} …`}
      </output>
      {!isOver && <progress className="progress" aria-label={action.label} value={done} max={contacts.length} />}
      {failures.length > 0 && (
        <div className="section" role="alert">
          <p className="problem-text">
            {contactsOf(failures.length)} {failures.length === 1 ? 'was' : 'were'} not:
          </p>
          <ul className="failures">
            {failures.map(({ contact, reason }) => (
              <li key={contact.id}>
                <Link to="/contacts/$id" id={contact.id}>
                  {titleOf('contacts', contact)}
                </Link>
                : {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="dialog-actions">
        <button type="button" className="button primary" onClick={onClose}>
          {isOver ? 'Close' : 'Stop'}
        </button>
      </div>
    </Dialog>
  )
}

const contactsOf = (count: number): string => (count === 1 ? 'One contact' : `${count} contacts`)

const reasonOf = (error: unknown): string => {
  if (isProblem(error, 'precondition_failed')) return 'somebody else changed it at the same moment'
  if (isProblem(error)) return error.detail
  return error instanceof Error ? error.message : String(error)
}
