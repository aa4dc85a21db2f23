import './webhooks.css'
import type { ShownWebhookEndpoint, WebhookEndpoint } from '@masthead/client/management'
import { webhookLimits } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { SecretDialog } from '../admin/secret-dialog.tsx'
import { SecretLost } from '../admin/secret-lost.tsx'
import { Copied } from '../design/copied.tsx'
import { formatInstant } from '../design/formats.ts'
import { Segments } from '../design/segments.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubmission } from '../forms/submission.ts'
import { useManagement } from '../session.tsx'
import { nameOf } from './endpoint-state.tsx'
import { queryKey } from './queries.ts'
import { type VerifyingLanguage, verifyingCode, verifyingLanguages } from './verifying-code.ts'

/** The secret, once, with what the receiver does with it. */
export const SecretOnce = ({ shown, onClose }: { shown: ShownWebhookEndpoint; onClose: () => void }) => {
  const [language, setLanguage] = useState<VerifyingLanguage>('Node.js')
  return (
    <SecretDialog
      title={`Secret of “${nameOf(shown)}”`}
      isWide
      onClose={onClose}
      warning="Copy it now: it is not shown again. Whoever has it can send events in our name."
    >
      {shown.formerSecretUntil !== null && (
        <p>Until {formatInstant(shown.formerSecretUntil)} events are signed with the former secret, too.</p>
      )}
      <Copied label="Secret" text={shown.secret} />
      <p>
        Verify every event before you trust it. The headers <code>webhook-id</code>, <code>webhook-timestamp</code> and{' '}
        <code>webhook-signature</code> are those of{' '}
        <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
          Standard Webhooks
        </a>
        , for which there are libraries in most languages.
      </p>
      <Segments
        legend="Language"
        options={verifyingLanguages.map((one) => [one, one])}
        value={language}
        onChange={setLanguage}
      />
      <div className="bounded-code">
        <Copied label={`Verify an event in ${language}`} text={verifyingCode[language]} />
      </div>
    </SecretDialog>
  )
}

type RotateDialogProps = {
  endpoint: WebhookEndpoint
  onClose: () => void
  onMade: (made: ShownWebhookEndpoint) => void
}

export const RotateDialog = ({ endpoint, onClose, onMade }: RotateDialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, send } = useSubmission()
  const submit = async () => {
    const made = await send({}, (_, options) => management.webhookEndpoints.rotateSecret(endpoint.id, options))
    queryClient.invalidateQueries({ queryKey })
    if (made) onMade(made)
  }
  return (
    <FormDialog
      isBusy={isBusy}
      onClose={onClose}
      title={`Rotate the secret of “${nameOf(endpoint)}”?`}
      action="Rotate the secret"
      refusal={error}
      trouble={trouble}
      lost={
        <SecretLost
          what="the new secret"
          cure="Rotate it again and give the receiver the next one at once: the secret that it has ends with that."
        />
      }
      onSubmit={submit}
    >
      <p>
        You get a new secret. For {webhookLimits.rotationHours} hours events are signed with both, so the receiver can
        change over without a gap.
      </p>
      {endpoint.formerSecretUntil !== null && (
        <p>
          <strong>It was rotated before:</strong> the secret from before that would sign until{' '}
          {formatInstant(endpoint.formerSecretUntil)}, and ends now.
        </p>
      )}
    </FormDialog>
  )
}
