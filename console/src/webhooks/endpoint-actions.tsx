import type { ShownWebhookEndpoint, WebhookEndpoint } from '@masthead/client/management'
import { webhookLimits } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useSetParameters } from '../address.tsx'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { formatNumber } from '../design/formats.ts'
import { ChevronIcon } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import { Trouble } from '../design/states.tsx'
import { useSubmission } from '../forms/submission.ts'
import { useManagement } from '../session.tsx'
import { ChangeDialog } from './endpoint-form.tsx'
import { nameOf } from './endpoint-state.tsx'
import { queryKey } from './queries.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { RotateDialog, SecretOnce } from './secret.tsx'

const choices = {
  changing: 'Change …',
  rotating: 'Rotate the secret …',
  replaying: 'Send again from a moment on …',
  disabling: 'Disable …',
  deleting: 'Delete …',
} as const
type Choice = keyof typeof choices

type Asked = { for: Choice } | { for: 'showing'; shown: ShownWebhookEndpoint }

/** What an admin can do with an endpoint. */
export const EndpointActions = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const [asked, setAsked] = useState<Asked>()
  const [told, setTold] = useState('')
  const isEnabled = endpoint.disabledAt === null
  const offered = Object.entries(choices).filter(([choice]) => isEnabled || choice !== 'disabling') as [
    Choice,
    string,
  ][] // its keys
  // A late answer closes its own dialog, not the one that was opened after it.
  const onClose = () => setAsked((now) => (now === asked ? undefined : now))
  return (
    <>
      <output className="told muted">{told}</output>
      {isEnabled && <TestButton endpoint={endpoint} />}
      <Menu
        button={
          <>
            More <ChevronIcon />
          </>
        }
      >
        {(close) =>
          offered.map(([choice, label]) => (
            <button
              key={choice}
              type="button"
              className="menu-item"
              onClick={() => {
                close()
                setAsked({ for: choice })
              }}
            >
              {label}
            </button>
          ))
        }
      </Menu>
      {asked?.for === 'changing' && <ChangeDialog endpoint={endpoint} onClose={onClose} />}
      {asked?.for === 'rotating' && (
        <RotateDialog endpoint={endpoint} onClose={onClose} onMade={(shown) => setAsked({ for: 'showing', shown })} />
      )}
      {asked?.for === 'showing' && <SecretOnce shown={asked.shown} onClose={onClose} />}
      {asked?.for === 'replaying' && <ReplayDialog endpoint={endpoint} onClose={onClose} onDone={setTold} />}
      {asked?.for === 'disabling' && <DisableDialog endpoint={endpoint} onClose={onClose} />}
      {asked?.for === 'deleting' && <DeleteDialog endpoint={endpoint} onClose={onClose} />}
    </>
  )
}

/** The delivery of the event opens at once, so that what becomes of it is seen. */
const TestButton = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const setParameters = useSetParameters()
  const { isBusy, error, send } = useSubmission({ isRepeatable: true })
  const test = async () => {
    const sent = await send({}, (_, options) => management.deliveries.test(endpoint.id, options))
    if (!sent) return
    queryClient.invalidateQueries({ queryKey })
    setParameters({ delivery: sent.id }, { replace: true })
  }
  return (
    <>
      {error !== undefined && <Trouble error={error} />}
      <button type="button" className="button primary" aria-disabled={isBusy} onClick={test}>
        Send a test event
      </button>
    </>
  )
}

type DialogProps = { endpoint: WebhookEndpoint; onClose: () => void }

const DisableDialog = ({ endpoint, onClose }: DialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  return (
    <ConfirmDialog
      title={`Disable “${nameOf(endpoint)}”?`}
      action="Disable the endpoint"
      onClose={onClose}
      onConfirm={async () => {
        await management.webhookEndpoints.update(endpoint.id, { isDisabled: true })
        await queryClient.invalidateQueries({ queryKey })
      }}
    >
      <p>
        Nothing is sent from now on. What happens is recorded for {webhookLimits.keptDays} days, and sent when you
        enable it again.
      </p>
    </ConfirmDialog>
  )
}

export const EnableButton = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, send } = useSubmission({ isRepeatable: true })
  const enable = async () => {
    await send({ isDisabled: false }, (change) => management.webhookEndpoints.update(endpoint.id, change))
    await queryClient.invalidateQueries({ queryKey })
  }
  return (
    <>
      {error !== undefined && <Trouble error={error} />}
      <button type="button" className="button primary" aria-disabled={isBusy} onClick={enable}>
        Enable
      </button>
    </>
  )
}

const DeleteDialog = ({ endpoint, onClose }: DialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const name = nameOf(endpoint)
  return (
    <ConfirmDialog
      title={`Delete “${name}”?`}
      action="Delete the endpoint"
      onClose={onClose}
      onConfirm={async () => {
        await management.webhookEndpoints.delete(endpoint.id)
        await navigate({ to: '/admin/webhooks', state: { done: `“${name}” was deleted.` } })
        await queryClient.invalidateQueries({ queryKey })
      }}
    >
      <p>
        It is told nothing from now on, and its deliveries are deleted with it
        {endpoint.waiting > 0 && <>, among them {formatNumber(endpoint.waiting)} that wait</>}. This cannot be taken
        back.
      </p>
    </ConfirmDialog>
  )
}
