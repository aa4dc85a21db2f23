import type { WebhookEndpoint } from '@masthead/client/management'
import { webhookLimits } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formatNumber } from '../design/formats.ts'
import { TextField } from '../design/text-field.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubmission } from '../forms/submission.ts'
import { useManagement } from '../session.tsx'
import { queryKey } from './queries.ts'

const hour = 3_600_000

type ReplayDialogProps = { endpoint: WebhookEndpoint; onClose: () => void; onDone: (told: string) => void }

export const ReplayDialog = ({ endpoint, onClose, onDone }: ReplayDialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const [since, setSince] = useState(() => inputOf(firstMissed(endpoint)))
  const [isMissing, setMissing] = useState(false)
  const submit = async () => {
    const moment = new Date(since)
    setMissing(Number.isNaN(moment.getTime()))
    if (Number.isNaN(moment.getTime())) return
    const done = await send({ since: moment.toISOString() }, (body, options) =>
      management.webhookEndpoints.replay(endpoint.id, body, options),
    )
    if (!done) return
    await queryClient.invalidateQueries({ queryKey })
    onDone(`${formatNumber(done.replayed)} ${done.replayed === 1 ? 'event is' : 'events are'} sent again.`)
    onClose()
  }
  return (
    <FormDialog
      isBusy={isBusy}
      onClose={onClose}
      trouble={trouble}
      title="Send again from a moment on"
      action="Send again"
      refusal={isMissing || error}
      onSubmit={submit}
    >
      <p>
        Every event since then is sent again, in order and under the same <code>webhook-id</code>, also those that were
        delivered. The receiver knows by the id what it has already.
      </p>
      <TextField
        label="From"
        help={`Events are kept for ${webhookLimits.keptDays} days.`}
        type="datetime-local"
        value={since}
        onChange={setSince}
        error={isMissing ? 'Choose a day and a time.' : errorAt('since')}
      />
      {endpoint.disabledAt !== null && <p>The endpoint is disabled, so they wait until you enable it.</p>}
    </FormDialog>
  )
}

/** Whoever opens it wants most likely what the endpoint missed. */
const firstMissed = ({ failingSince, disabledAt }: WebhookEndpoint): Date => {
  const missed = [failingSince, disabledAt].flatMap((at) => (at === null ? [] : new Date(at).getTime()))
  return new Date(Math.min(Date.now() - hour, ...missed))
}

/** The value of the control: the time where the reader is, without a zone. */
const inputOf = (moment: Date): string =>
  new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
