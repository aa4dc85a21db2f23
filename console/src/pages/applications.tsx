import '../admin/administration.css'
import type { Application } from '@masthead/client/management'
import type { Scope } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { ScopeChoice, ScopeNames } from '../admin/scope-choice.tsx'
import { Ago } from '../design/ago.tsx'
import { Badge } from '../design/badge.tsx'
import { ChoiceField } from '../design/choice-field.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatNumber } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { TextField } from '../design/text-field.tsx'
import { useDraft } from '../forms/draft.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubmission } from '../forms/submission.ts'
import { Permitted } from '../permission.tsx'
import { useManagement, useMe } from '../session.tsx'

const queryKey = ['applications']
const title = 'Applications'

export const Page = () => (
  <Permitted title={title} scope="applications:manage">
    <Applications />
  </Permitted>
)

const Applications = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { tenant } = useMe()
  const query = useQuery({ queryKey, queryFn: ({ signal }) => management.applications.list({ signal }) })
  const [isRegistering, setRegistering] = useState(false)
  const [turned, setTurned] = useState<Application>()
  const turn = async ({ clientId, disabledAt }: Application) => {
    await management.applications.update(clientId, { isDisabled: disabledAt === null })
    await queryClient.invalidateQueries({ queryKey })
  }
  return (
    <div className="page">
      <PageHead
        title={title}
        actions={
          <button type="button" className="button primary" onClick={() => setRegistering(true)}>
            Register an application
          </button>
        }
      >
        Programs that act for members of {tenant.name}, when these consent to it.
      </PageHead>
      <Fetched query={query} what="the applications">
        {({ items }) => (
          <div className="card table-frame">
            {items.length === 0 ? (
              <Empty title="No application is registered">
                <p>
                  An application sends people here to sign in (OAuth 2.0 with PKCE), and then acts for them with what
                  they allowed. Register it to get its <code>client_id</code>. For a script of your own an access token
                  is enough.
                </p>
              </Empty>
            ) : (
              <ApplicationTable applications={items} onTurn={setTurned} />
            )}
          </div>
        )}
      </Fetched>
      {isRegistering && <RegisterDialog onClose={() => setRegistering(false)} />}
      {turned && turned.disabledAt === null && (
        <ConfirmDialog
          title={`Disable ${turned.name}?`}
          action="Disable the application"
          onClose={() => setTurned(undefined)}
          onConfirm={() => turn(turned)}
        >
          <p>It is refused from now on, and so is everything that members allowed it. You can enable it again.</p>
        </ConfirmDialog>
      )}
      {turned && turned.disabledAt !== null && (
        <ConfirmDialog
          title={`Enable ${turned.name}?`}
          action="Enable the application"
          onClose={() => setTurned(undefined)}
          onConfirm={() => turn(turned)}
        >
          <p>What members allowed it works again, with the tokens that it has.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

type ApplicationTableProps = { applications: readonly Application[]; onTurn: (application: Application) => void }

const ApplicationTable = ({ applications, onTurn }: ApplicationTableProps) => (
  <table className="records plain">
    <caption className="visually-hidden">Applications</caption>
    <TableHead columns={['Name', 'Redirect URIs', { amount: 'Consents' }, 'Registered']} hasActions />
    <tbody>
      {applications.map((application) => (
        <tr key={application.clientId}>
          <td>
            <strong className="row-title">{application.name}</strong>
            {application.disabledAt !== null && <Badge tone="problem">Disabled</Badge>}
            {application.isNative && <Badge>On devices</Badge>}{' '}
            {application.mayRefresh && <Badge>Stays signed in</Badge>}
            <p className="with-button">
              <code>{application.clientId}</code>
              <CopyButton text={application.clientId} label={`Copy the client_id of ${application.name}`} />
            </p>
            <ScopeNames names={application.scopes} />
          </td>
          <td data-label="Redirect URIs">
            <ul>
              {application.redirectUris.map((uri) => (
                <li key={uri}>
                  <code>{uri}</code>
                </li>
              ))}
            </ul>
          </td>
          <td data-label="Consents" className="end">
            {formatNumber(application.consents)}
          </td>
          <td data-label="Registered">
            <Ago at={application.createdAt} />
          </td>
          <td className="row-actions">
            <button
              type="button"
              className={application.disabledAt === null ? 'button danger' : 'button'}
              onClick={() => onTurn(application)}
            >
              {application.disabledAt === null ? 'Disable' : 'Enable'}
              <span className="visually-hidden"> {application.name}</span>
            </button>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

type Trait = 'mayRefresh' | 'isNative'

const nothing = { name: '', uris: '', scopes: [] as Scope[], traits: ['mayRefresh'] as Trait[] }

const RegisterDialog = ({ onClose }: { onClose: () => void }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { value, change, draft } = useDraft('application', nothing)
  const { name, uris, scopes, traits } = value
  const submit = async () => {
    const redirectUris = uris.split('\n').flatMap((line) => line.trim() || [])
    const input = {
      name,
      redirectUris,
      scopes,
      mayRefresh: traits.includes('mayRefresh'),
      isNative: traits.includes('isNative'),
    }
    const registered = await send(input, (body, options) => management.applications.create(body, options))
    if (!registered) return
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
      title="Register an application"
      action="Register"
      refusal={error}
      onSubmit={submit}
    >
      <TextField
        label="Name"
        help="What people see when they are asked."
        value={name}
        onChange={(name) => change({ name })}
        error={errorAt('name')}
      />
      <TextField
        label="Redirect URIs"
        help="Where people are sent back to, exactly; one on each line."
        value={uris}
        onChange={(uris) => change({ uris })}
        error={errorAt('redirectUris')}
        placeholder="https://app.example.com/callback"
        isLong
      />
      <ScopeChoice
        label="What it may ask for"
        chosen={scopes}
        onChange={(scopes) => change({ scopes })}
        error={errorAt('scopes')}
      />
      <ChoiceField
        label="How it works"
        chosen={traits}
        onChange={(traits) => change({ traits })}
        choices={[
          {
            value: 'mayRefresh',
            label: 'People stay signed in',
            help: 'It gets refresh tokens, and need not ask again for 30 days.',
          },
          {
            value: 'isNative',
            label: 'It runs on a device',
            help: 'Redirect URIs may be of a private scheme, or of any port of a loopback address.',
          },
        ]}
      />
    </FormDialog>
  )
}
