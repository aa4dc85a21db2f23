import '../admin/administration.css'
import type { ServiceToken } from '@masthead/client/management'
import type { Scope } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { ExpiryChoice } from '../admin/expiry-choice.tsx'
import { ScopeChoice } from '../admin/scope-choice.tsx'
import { type Shown, TokenDialog } from '../admin/secret-dialog.tsx'
import { SecretLost } from '../admin/secret-lost.tsx'
import { TokenList } from '../admin/token-table.tsx'
import { Fetched } from '../design/fetched.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Select } from '../design/select.tsx'
import { Empty } from '../design/states.tsx'
import { TextField } from '../design/text-field.tsx'
import { useDraft } from '../forms/draft.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubmission } from '../forms/submission.ts'
import { Permitted } from '../permission.tsx'
import { useManagement } from '../session.tsx'

const queryKey = ['service-tokens']
const title = 'Service tokens'

export const Page = () => (
  <Permitted title={title} scope="service-tokens:manage">
    <ServiceTokens />
  </Permitted>
)

type Asked =
  | { for: 'making' }
  | { for: 'rotating' | 'revoking'; token: ServiceToken }
  | { for: 'showing'; shown: Shown }

const ServiceTokens = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const query = useQuery({ queryKey, queryFn: ({ signal }) => management.serviceTokens.list({ signal }) })
  const [asked, setAsked] = useState<Asked>()
  // A late answer closes its own dialog, not the one that was opened after it.
  const onClose = () => setAsked((now) => (now === asked ? undefined : now))
  const onMade = (shown: Shown) => setAsked({ for: 'showing', shown })
  return (
    <div className="page">
      <PageHead
        title={title}
        actions={
          <button type="button" className="button primary" onClick={() => setAsked({ for: 'making' })}>
            Make a service token
          </button>
        }
      >
        They belong to integrations and to no person, so they stay when people leave.
      </PageHead>
      <Fetched query={query} what="the service tokens">
        {({ items }) => (
          <TokenList
            tokens={items}
            caption="Service tokens"
            empty={
              <div className="card">
                <Empty title="No integration has a token that works">
                  <p>
                    A service token lets another system call the API by itself: a web shop, a nightly synchronisation, a
                    report. It is replaced without a gap by rotating it.
                  </p>
                </Empty>
              </div>
            }
            note={({ defaultAssignee }) =>
              defaultAssignee !== null && (
                <p className="small muted">
                  Its tasks go to <code>{defaultAssignee}</code> when they name nobody.
                </p>
              )
            }
            actions={(token) => (
              <>
                <button type="button" className="button" onClick={() => setAsked({ for: 'rotating', token })}>
                  Rotate<span className="visually-hidden"> {token.name}</span>
                </button>
                <button type="button" className="button danger" onClick={() => setAsked({ for: 'revoking', token })}>
                  Revoke<span className="visually-hidden"> {token.name}</span>
                </button>
              </>
            )}
          />
        )}
      </Fetched>
      {asked?.for === 'making' && <MakeDialog onClose={onClose} onMade={onMade} />}
      {asked?.for === 'rotating' && <RotateDialog onClose={onClose} onMade={onMade} token={asked.token} />}
      {asked?.for === 'showing' && <TokenDialog shown={asked.shown} onClose={onClose} />}
      {asked?.for === 'revoking' && (
        <ConfirmDialog
          title={`Revoke the token of “${asked.token.service}”?`}
          action="Revoke the token"
          onClose={onClose}
          onConfirm={async () => {
            await management.serviceTokens.delete(asked.token.id)
            await queryClient.invalidateQueries({ queryKey })
          }}
        >
          <p>The integration is refused from now on. This cannot be taken back; to replace the token, rotate it.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

type DialogProps = { onClose: () => void; onMade: (made: Shown) => void }

const nothing = { service: '', scopes: [] as Scope[], expiresInDays: 365, assignee: '' }

const MakeDialog = ({ onClose, onMade }: DialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { value, change, draft } = useDraft('service-token', nothing)
  const { service, scopes, expiresInDays, assignee } = value
  const submit = async () => {
    const input = { service, scopes, expiresInDays, defaultAssignee: assignee.trim() || null }
    const made = await send(input, (body, options) => management.serviceTokens.create(body, options))
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
      title="Make a service token"
      action="Make the token"
      refusal={error}
      trouble={trouble}
      lost={<SecretLost what="the token" cure={`Close this, revoke “${service}” in the list, and make another.`} />}
      onSubmit={submit}
    >
      <TextField
        label="Integration"
        help="What will hold the token."
        value={service}
        onChange={(service) => change({ service })}
        error={errorAt('service')}
        placeholder="Web shop"
      />
      <ScopeChoice
        label="What it may do"
        chosen={scopes}
        onChange={(scopes) => change({ scopes })}
        error={errorAt('scopes')}
      />
      <ExpiryChoice
        choices={[30, 90, 180, 365, 730, 1_825]}
        days={expiresInDays}
        onChange={(expiresInDays) => change({ expiresInDays })}
        error={errorAt('expiresInDays')}
      />
      <TextField
        label="Default assignee (optional)"
        help="The user of the legacy system who gets tasks that name nobody."
        value={assignee}
        onChange={(assignee) => change({ assignee })}
        error={errorAt('defaultAssignee')}
      />
    </FormDialog>
  )
}

const overlaps = [
  ['0', 'Not at all: it ends now'],
  ['1', 'One hour'],
  ['24', 'One day'],
  ['168', 'One week'],
  ['720', '30 days'],
] as const

const RotateDialog = ({ token, onClose, onMade }: DialogProps & { token: ServiceToken }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const [overlapHours, setHours] = useState(24)
  const submit = async () => {
    const made = await send({ overlapHours }, (input, options) =>
      management.serviceTokens.rotate(token.id, input, options),
    )
    queryClient.invalidateQueries({ queryKey })
    if (made) onMade(made)
  }
  return (
    <FormDialog
      isBusy={isBusy}
      onClose={onClose}
      title={`Rotate the token of “${token.service}”`}
      action="Rotate the token"
      refusal={error}
      trouble={trouble}
      lost={
        <SecretLost
          what="the new token"
          cure="Close this, revoke the newest of this name in the list, and rotate the old one again."
        />
      }
      onSubmit={submit}
    >
      <p>
        You get a new token with the same scopes, which lives as long. The old one works on for a while, until the
        integration has the new one.
      </p>
      <Select
        label="The old one works on for"
        value={String(overlapHours)}
        onChange={(value) => setHours(Number(value))}
        options={overlaps}
        error={errorAt('overlapHours')}
      />
    </FormDialog>
  )
}
