import '../admin/administration.css'
import type { Token } from '@masthead/client/management'
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
import { Empty } from '../design/states.tsx'
import { TextField } from '../design/text-field.tsx'
import { useDraft } from '../forms/draft.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubmission } from '../forms/submission.ts'
import { useManagement, useMe } from '../session.tsx'

const queryKey = ['tokens']

export const Page = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { tenant } = useMe()
  const query = useQuery({ queryKey, queryFn: ({ signal }) => management.tokens.list({ signal }) })
  const [isMaking, setMaking] = useState(false)
  const [shown, setShown] = useState<Shown>()
  const [revoked, setRevoked] = useState<Token>()
  const make = (
    <button type="button" className="button primary" onClick={() => setMaking(true)}>
      Make a token
    </button>
  )
  return (
    <div className="page">
      <PageHead title="Access tokens" actions={make}>
        With them your scripts call the API as you, in {tenant.name}.
      </PageHead>
      <Fetched query={query} what="your tokens">
        {({ items }) => (
          <TokenList
            tokens={items}
            caption="Your tokens"
            role={tenant.role}
            empty={
              <div className="card">
                <Empty title="You have no token that works">
                  <p>
                    A personal access token lets a script or a program call the API as you: never more than your role
                    allows, and only what you choose. It can be revoked at any time.
                  </p>
                </Empty>
              </div>
            }
            actions={(token) => (
              <button type="button" className="button danger" onClick={() => setRevoked(token)}>
                Revoke<span className="visually-hidden"> {token.name}</span>
              </button>
            )}
          />
        )}
      </Fetched>
      {isMaking && (
        <MakeDialog
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setShown(made)
          }}
        />
      )}
      {shown && <TokenDialog shown={shown} onClose={() => setShown(undefined)} />}
      {revoked && (
        <ConfirmDialog
          title={`Revoke “${revoked.name}”?`}
          action="Revoke the token"
          onClose={() => setRevoked(undefined)}
          onConfirm={async () => {
            await management.tokens.delete(revoked.id)
            await queryClient.invalidateQueries({ queryKey })
          }}
        >
          <p>Whatever uses it is refused from now on. This cannot be taken back.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

const nothing = { name: '', scopes: [] as Scope[], expiresInDays: 90 }

const MakeDialog = ({ onClose, onMade }: { onClose: () => void; onMade: (made: Shown) => void }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { tenant } = useMe()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { value, change, draft } = useDraft('token', nothing)
  const { name, scopes, expiresInDays } = value
  const submit = async () => {
    const made = await send(value, (input, options) => management.tokens.create(input, options))
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
      title="Make a token"
      action="Make the token"
      refusal={error}
      trouble={trouble}
      lost={<SecretLost what="the token" cure={`Close this, revoke “${name}” in the list, and make another.`} />}
      onSubmit={submit}
    >
      <TextField
        label="Name"
        help="So that you know later what it is for."
        value={name}
        onChange={(name) => change({ name })}
        error={errorAt('name')}
        placeholder="Nightly report"
      />
      <ScopeChoice
        label="What it may do"
        chosen={scopes}
        onChange={(scopes) => change({ scopes })}
        error={errorAt('scopes')}
        role={tenant.role}
      />
      <ExpiryChoice
        choices={[7, 30, 90, 180, 366]}
        days={expiresInDays}
        onChange={(expiresInDays) => change({ expiresInDays })}
        error={errorAt('expiresInDays')}
      />
    </FormDialog>
  )
}
