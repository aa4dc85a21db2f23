import type { Scope } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { Link, useParameters } from '../address.tsx'
import type { Path } from '../paths.ts'
import { Permitted } from '../permission.tsx'
import { FormPage, type Section } from './form-page.tsx'
import { type Body, inputFieldsOf, valuesOf } from './input-fields.ts'
import { useSendDraftOnce } from './send-once.ts'
import { useForm } from './use-form.ts'

type Created = { to: Path; id: string; done: string }

type CreatePageProps = {
  title: string
  scope: Scope
  /** What the service takes. */
  input: { properties: object; required?: string[] }
  sections: readonly Section[]
  /** The list to which it will belong, and what that is called. */
  list: Path
  plural: string
  create: (body: Body, options: { idempotencyKey: string }) => Promise<Created>
}

/** A form for something new. Fields that the address names are filled already. */
export const CreatePage = (props: CreatePageProps) => (
  <Permitted scope={props.scope} title={props.title}>
    <CreateForm {...props} />
  </Permitted>
)

const CreateForm = ({ title, input, sections, list, plural, create }: CreatePageProps) => {
  const fields = inputFieldsOf(input)
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const parameters = useParameters()
  const { accountId } = parameters
  const name = useRouterState({ select: ({ location }) => location.pathname + location.searchStr })
  const sendOnce = useSendDraftOnce(name)
  const form = useForm({
    name,
    fields,
    before: valuesOf(fields),
    opened: valuesOf(fields, parameters),
    send: async (body) => {
      const { to, id, done } = await sendOnce(body, (idempotencyKey) => create(body, { idempotencyKey }))
      queryClient.invalidateQueries()
      return () => navigate({ to, params: { id }, state: { done }, ignoreBlocker: true, replace: true })
    },
  })
  return (
    <FormPage
      title={title}
      form={form}
      sections={sections}
      submit="Create"
      crumbs={<Link to={list}>{plural}</Link>}
      cancel={
        // Back to where they came from.
        <Link {...(accountId ? { to: '/accounts/$id', id: accountId } : { to: list })} className="button">
          Cancel
        </Link>
      }
    />
  )
}
