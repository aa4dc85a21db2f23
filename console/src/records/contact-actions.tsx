import type { Contact } from '@masthead/client'
import { useState } from 'react'
import { Link } from '../address.tsx'
import { Question } from '../design/question.tsx'
import { useMay } from '../permission.tsx'
import { useMasthead } from '../session.tsx'
import { titleOf } from './kinds.ts'
import { ActionTrouble, useAction } from './record-action.tsx'

/** What can be done with a contact, by who may. */
export const ContactActions = ({ contact }: { contact: Contact }) => {
  const [isAsking, setAsking] = useState(false)
  const masthead = useMasthead()
  const name = titleOf('contacts', { ...contact })
  const deletion = useAction(
    'contacts',
    contact,
    `${name} was deleted. Lists leave deleted contacts out; “Restore” brings it back.`,
    () => setAsking(false),
  )
  const restoration = useAction('contacts', contact, `${name} was restored.`)
  if (!useMay('contacts:write')) return null
  if (contact.deletedAt !== null)
    return (
      <>
        <ActionTrouble error={restoration.trouble} singular="contact" />
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
          <ActionTrouble error={deletion.trouble} singular="contact" />
        </Question>
      )}
    </>
  )
}
