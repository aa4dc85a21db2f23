import { type Contact, isProblem } from '@masthead/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Link } from '../address.tsx'
import { Question } from '../design/question.tsx'
import { Trouble } from '../design/states.tsx'
import { useMay } from '../permission.tsx'
import { useMasthead } from '../session.tsx'
import { type AnyRecord, titleOf } from './kinds.ts'
import { recordQuery } from './queries.ts'

/** What can be done with a contact, by who may. */
export const ContactActions = ({ contact }: { contact: Contact }) => {
  const [isAsking, setAsking] = useState(false)
  const masthead = useMasthead()
  const name = titleOf('contacts', { ...contact })
  const deletion = useAction(
    contact,
    `${name} was deleted. Lists leave deleted contacts out; “Restore” brings it back.`,
    () => setAsking(false),
  )
  const restoration = useAction(contact, `${name} was restored.`)
  if (!useMay('contacts:write')) return null
  if (contact.deletedAt !== null)
    return (
      <>
        <ActionTrouble error={restoration.trouble} />
        <button
          type="button"
          className="button primary"
          aria-disabled={restoration.isBusy}
          onClick={() => restoration.act((ifMatch) => masthead.contacts.restore(contact.id, { ifMatch }))}
        >
          Restore
        </button>
      </>
    )
  return (
    <>
      <Link to="/contacts/$id/edit" id={contact.id} className="button primary">
        Edit
      </Link>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking && (
        <Question
          title={`Delete ${name}?`}
          yes="Delete"
          no="Keep"
          isBusy={deletion.isBusy}
          onYes={() => deletion.act((ifMatch) => masthead.contacts.delete(contact.id, { ifMatch }))}
          onNo={() => setAsking(false)}
        >
          <p>Lists will leave it out, and nobody can change it. It can be restored at any time.</p>
          <ActionTrouble error={deletion.trouble} />
        </Question>
      )}
    </>
  )
}

const ActionTrouble = ({ error }: { error: unknown }) => {
  if (error === undefined) return null
  if (!isProblem(error, 'precondition_failed')) return <Trouble error={error} />
  return (
    <p className="field-error" role="alert">
      Somebody else has changed this contact, and nothing was done. The page now shows it as it is: look again, and
      decide anew.
    </p>
  )
}

/** Does it once, to the contact as it is shown; if that is no longer how it is, the page shows it as it is now. */
const useAction = (contact: Contact, done: string, onDone?: () => void) => {
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  // Faster than a state: a second click comes before the button is drawn anew.
  const isUnderWay = useRef(false)
  const [trouble, setTrouble] = useState<unknown>()
  const { queryKey } = recordQuery(masthead, 'contacts', contact.id)
  const act = async (change: (ifMatch: Contact) => Promise<Contact>) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setBusy(true)
    setTrouble(undefined)
    try {
      // As it came, because its tag belongs to it.
      queryClient.setQueryData(queryKey, (await change(contact)) as unknown as AnyRecord)
      onDone?.()
      navigate({ to: '.', state: { done }, replace: true })
      // The button that was pressed is gone.
      document.getElementById('main')?.focus()
    } catch (error) {
      setTrouble(error)
    } finally {
      isUnderWay.current = false
      setBusy(false)
      queryClient.invalidateQueries({ queryKey: ['contacts'] })
    }
  }
  return { act, isBusy, trouble }
}
