import { isProblem, type Masthead } from '@masthead/client'
import type { Scope } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Link, usePathId } from '../address.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty, Loading, Trouble } from '../design/states.tsx'
import { Permitted } from '../permission.tsx'
import { type AnyRecord, isDeleted, kinds, titleOf } from '../records/kinds.ts'
import { useMasthead } from '../session.tsx'
import { Conflict } from './conflict.tsx'
import { FormPage, type Section } from './form-page.tsx'
import { type Body, changedFields, type InputValues, inputFieldsOf, valuesOf } from './input-fields.ts'
import { LeaveGuard } from './leave-guard.tsx'
import { useForm } from './use-form.ts'

type EditPageProps = {
  name: 'accounts' | 'contacts' | 'tasks'
  /** The operation that saves. */
  operation: { scope: Scope; body: { properties: object; required?: string[] | undefined } }
  sections: readonly Section[]
}

type Edited = {
  get: (id: string, options?: { signal: AbortSignal }) => Promise<AnyRecord>
  update: (id: string, changes: object, options: { ifMatch: AnyRecord }) => Promise<AnyRecord>
}

/** The casts forget which resource it is: the form asks for what its contract lists, and the service says what is missing. */
const useEdited = (name: EditPageProps['name']): Edited =>
  (useMasthead() as Pick<Masthead, EditPageProps['name']> as unknown as Record<string, Edited>)[name] as Edited

/** A form for a record that is there. What two people change at once is theirs to choose from. */
export const EditPage = (props: EditPageProps) => (
  <Permitted scope={props.operation.scope} title={`Edit ${articleOf(props.name)}`}>
    <Fetched {...props} />
  </Permitted>
)

const articleOf = (name: EditPageProps['name']): string => {
  const { singular } = kinds[name]
  return `${/^[aeiou]/.test(singular) ? 'an' : 'a'} ${singular}`
}

const Fetched = (props: EditPageProps) => {
  const { name } = props
  const { plural, singular, list, one } = kinds[name]
  const id = usePathId()
  const records = useEdited(name)
  const { data: record, error } = useQuery({
    queryKey: [name, 'edited', id],
    queryFn: ({ signal }) => records.get(id, { signal }),
    // As it is when the form is opened, and so it stays while somebody types.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  if (record && !isDeleted(record)) return <EditForm key={id} {...props} id={id} record={record} />
  return (
    <div className="page">
      <PageHead title={`Edit ${articleOf(name)}`} crumbs={<Link to={list}>{plural}</Link>} />
      {error && <Trouble error={error} />}
      {!error && !record && <Loading what={`the ${singular}`} />}
      {record && (
        <Empty title={`${titleOf(name, record)} is deleted`}>
          <p>
            What is deleted cannot be changed.{' '}
            <Link to={one} id={id}>
              Restore it first
            </Link>
            .
          </p>
        </Empty>
      )}
    </div>
  )
}

const EditForm = ({
  name,
  operation,
  sections,
  id,
  record,
}: EditPageProps & { /** As the address has it. */ id: string; record: AnyRecord }) => {
  const records = useEdited(name)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { plural, singular, list, one } = kinds[name]
  const fields = inputFieldsOf(operation.body)
  /** The record as it was last read: only if it is still so may it be changed. */
  const base = useRef(record)
  const [theirs, setTheirs] = useState<AnyRecord | null>(null)
  /** What somebody changed since a draft began has been looked at. */
  const isSettled = useRef(false)
  const leave = (done?: string) => () =>
    navigate({ to: one, params: { id }, state: done ? { done } : {}, ignoreBlocker: true, replace: true })

  const save = async (changes: Body) => {
    // What is chosen over a colleague's deletion takes that back too.
    const restored = isDeleted(base.current) ? { deletedAt: null } : {}
    const saved = await records.update(id, { ...changes, ...restored }, { ifMatch: base.current })
    queryClient.invalidateQueries()
    return leave(`${titleOf(name, saved)} was saved.`)
  }
  const compare = async (): Promise<null> => {
    setTheirs(await records.get(id))
    return null
  }
  const isOutdated = (draftedSince: InputValues): boolean =>
    !isSettled.current && changedFields(fields, draftedSince, valuesOf(fields, record)).length > 0
  const form = useForm({
    name: `${name}/${id}`,
    fields,
    before: valuesOf(fields, base.current),
    send: async (changes, values, draftedSince) => {
      if (isOutdated(draftedSince)) return compare()
      const isChanged = changedFields(fields, valuesOf(fields, base.current), values).length > 0
      try {
        return isChanged || isDeleted(base.current) ? await save(changes) : leave()
      } catch (error) {
        if (!isProblem(error, 'precondition_failed')) throw error
        return compare()
      }
    },
  })
  const title = titleOf(name, record)
  if (theirs)
    return (
      <>
        <Conflict
          title={title}
          singular={singular}
          fields={fields}
          theirs={theirs}
          was={isOutdated(form.draftedSince) ? form.draftedSince : base.current}
          yours={form.values}
          onBack={() => setTheirs(null)}
          onChoose={(chosen) => {
            base.current = theirs
            isSettled.current = true
            setTheirs(null)
            form.resubmit(chosen, valuesOf(fields, theirs))
          }}
        />
        <LeaveGuard form={form} />
      </>
    )
  return (
    <FormPage
      title={`Edit ${title}`}
      form={form}
      sections={sections}
      submit="Save"
      ofDraft={
        isOutdated(form.draftedSince) &&
        ` Meanwhile somebody changed the ${singular}: when you save, you choose between both.`
      }
      crumbs={<Link to={list}>{plural}</Link>}
      cancel={
        <Link to={one} id={id} className="button">
          Cancel
        </Link>
      }
    />
  )
}
