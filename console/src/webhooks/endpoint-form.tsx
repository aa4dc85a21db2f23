import type { ShownWebhookEndpoint, WebhookEndpoint } from '@masthead/client/management'
import { isWebhookEventType, type WebhookEventType, webhookEvents, webhookEventTypes } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { SecretLost } from '../admin/secret-lost.tsx'
import { ChoiceField } from '../design/choice-field.tsx'
import { TextField } from '../design/text-field.tsx'
import { useDraft } from '../forms/draft.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { type Submission, useSubmission } from '../forms/submission.ts'
import { useManagement } from '../session.tsx'
import { nameOf } from './endpoint-state.tsx'
import { queryKey } from './queries.ts'

type Values = { url: string; events: WebhookEventType[]; description: string }

type EndpointFieldsProps = {
  values: Values
  onChange: (values: Values) => void
  errorAt: Submission['errorAt']
}

const EndpointFields = ({ values, onChange, errorAt }: EndpointFieldsProps) => (
  <>
    <TextField
      label="Address"
      help="Where events are posted to: a public https address."
      inputMode="url"
      placeholder="https://example.com/masthead"
      value={values.url}
      onChange={(url) => onChange({ ...values, url })}
      error={errorAt('url')}
    />
    <TextField
      label="Description (optional)"
      help="So that you know later what it is for."
      placeholder="Newsletter tool"
      value={values.description}
      onChange={(description) => onChange({ ...values, description })}
      error={errorAt('description')}
    />
    <ChoiceField
      label="What it is told of"
      choices={choices}
      chosen={values.events}
      onChange={(events) => onChange({ ...values, events })}
      error={errorAt('events') && 'Choose at least one.'}
    />
  </>
)

const choices = webhookEventTypes.map((type) => ({
  value: type,
  label: (
    <>
      {webhookEvents[type].summary} <code>{type}</code>
    </>
  ),
}))

const nothing: Values = { url: '', events: [], description: '' }

/** What people paste has blanks around it. */
const sent = ({ url, events, description }: Values): Values => ({
  url: url.trim(),
  events,
  description: description.trim(),
})

type MakeDialogProps = { onClose: () => void; onMade: (made: ShownWebhookEndpoint) => void }

export const MakeDialog = ({ onClose, onMade }: MakeDialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { value: values, set: setValues, draft } = useDraft('webhook', nothing)
  const submit = async () => {
    const made = await send(sent(values), (body, options) => management.webhookEndpoints.create(body, options))
    queryClient.invalidateQueries({ queryKey })
    if (!made) return
    draft.forget()
    onMade(made)
  }
  return (
    <FormDialog
      isBusy={isBusy}
      draft={draft}
      onClose={onClose}
      title="Make an endpoint"
      action="Make the endpoint"
      refusal={error}
      trouble={trouble}
      lost={<SecretLost what="the secret" cure="Close this, open the endpoint in the list, and rotate its secret." />}
      onSubmit={submit}
    >
      <EndpointFields values={values} onChange={setValues} errorAt={errorAt} />
    </FormDialog>
  )
}

export const ChangeDialog = ({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { url, description } = endpoint
  const {
    value: values,
    set: setValues,
    draft,
  } = useDraft<Values>(`webhooks/${endpoint.id}`, {
    url,
    description,
    events: endpoint.events.filter(isWebhookEventType),
  })
  const submit = async () => {
    const changed = await send(sent(values), (body) => management.webhookEndpoints.update(endpoint.id, body))
    if (!changed) return
    draft.forget()
    await queryClient.invalidateQueries({ queryKey })
    onClose()
  }
  return (
    <FormDialog
      isBusy={isBusy}
      draft={draft}
      onClose={onClose}
      trouble={trouble}
      title={`Change “${nameOf(endpoint)}”`}
      action="Save"
      refusal={error}
      onSubmit={submit}
    >
      <EndpointFields values={values} onChange={setValues} errorAt={errorAt} />
    </FormDialog>
  )
}
