import { type Contact, type ContactInput, isProblem } from '@masthead/client'
import { resources } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Link, usePathId } from '../address.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty, Loading, Trouble } from '../design/states.tsx'
import { Conflict } from '../forms/conflict.tsx'
import { contactSections } from '../forms/contact-sections.ts'
import { FormPage } from '../forms/form-page.tsx'
import { type Body, changedFields, inputFieldsOf, valuesOf } from '../forms/input-fields.ts'
import { LeaveGuard } from '../forms/leave-guard.tsx'
import { useForm } from '../forms/use-form.ts'
import { Permitted } from '../permission.tsx'
import { titleOf } from '../records/kinds.ts'
import { useMasthead } from '../session.tsx'

const { body, scope } = resources.contacts.operations.UpdateContactRecord
const fields = inputFieldsOf(body)

export const Page = () => (
  <Permitted scope={scope} title="Edit a contact">
    <Fetched />
  </Permitted>
)

const Fetched = () => {
  const id = usePathId()
  const masthead = useMasthead()
  const { data: contact, error } = useQuery({
    queryKey: ['contacts', 'edited', id],
    queryFn: ({ signal }) => masthead.contacts.get(id, { signal }),
    // As it is when the form is opened, and so it stays while somebody types.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  if (contact?.deletedAt === null) return <EditForm key={id} contact={contact} />
  return (
    <div className="page">
      <PageHead title="Edit a contact" crumbs={<Link to="/contacts">Contacts</Link>} />
      {error && <Trouble error={error} />}
      {!error && !contact && <Loading what="the contact" />}
      {contact && (
        <Empty title={`${titleOf('contacts', { ...contact })} is deleted`}>
          <p>
            What is deleted cannot be changed.{' '}
            <Link to="/contacts/$id" id={id}>
              Restore it first
            </Link>
            .
          </p>
        </Empty>
      )}
    </div>
  )
}

const EditForm = ({ contact }: { contact: Contact }) => {
  const { id } = contact
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  /** The contact as it was last read: only if it is still so may it be changed. */
  const base = useRef(contact)
  const [theirs, setTheirs] = useState<Contact | null>(null)
  const leave = (done?: string) =>
    navigate({ to: '/contacts/$id', params: { id }, state: done ? { done } : {}, ignoreBlocker: true, replace: true })

  const save = async (changes: Body) => {
    // What is chosen over a colleague's deletion takes that back too.
    const restored = base.current.deletedAt === null ? {} : { deletedAt: null }
    // The form asks for what the contract lists; the service says what is missing.
    const input = { ...changes, ...restored } as unknown as ContactInput
    const saved = await masthead.contacts.update(id, input, { ifMatch: base.current })
    queryClient.invalidateQueries()
    leave(`${titleOf('contacts', { ...saved })} was saved.`)
  }
  const form = useForm({
    fields,
    before: valuesOf(fields, base.current),
    send: async (changes, values) => {
      if (changedFields(fields, valuesOf(fields, base.current), values).length === 0) return void leave()
      await save(changes).catch(async (error: unknown) => {
        if (!isProblem(error, 'precondition_failed')) throw error
        setTheirs(await masthead.contacts.get(id))
      })
    },
  })
  const name = titleOf('contacts', { ...contact })
  if (theirs)
    return (
      <>
        <Conflict
          {...{ name, fields }}
          was={base.current}
          yours={form.values}
          theirs={theirs}
          onBack={() => setTheirs(null)}
          onChoose={(chosen) => {
            base.current = theirs
            setTheirs(null)
            form.resubmit(chosen, valuesOf(fields, theirs))
          }}
        />
        <LeaveGuard isChanged={form.isChanged} />
      </>
    )
  return (
    <FormPage
      title={`Edit ${name}`}
      form={form}
      sections={contactSections}
      submit="Save"
      crumbs={<Link to="/contacts">Contacts</Link>}
      cancel={
        <Link to="/contacts/$id" id={id} className="button">
          Cancel
        </Link>
      }
    />
  )
}
