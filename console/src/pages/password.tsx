import '../design/form.css'
import type { Credentials } from '@masthead/client/management'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Checkbox } from '../design/checkbox.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatDay } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Trouble } from '../design/states.tsx'
import { TextField } from '../design/text-field.tsx'
import { useSubmission } from '../forms/submission.ts'
import { leaveFor, useManagement, useMe } from '../session.tsx'

const queryKey = ['credentials']

export const Page = () => {
  const management = useManagement()
  const query = useQuery({ queryKey, queryFn: ({ signal }) => management.me.credentials({ signal }) })
  return (
    <div className="page">
      <PageHead title="Password">Changing it signs you out everywhere and revokes what acts in your name.</PageHead>
      <Fetched query={query} what="what your password gave">
        {(credentials) => <PasswordForm {...credentials} />}
      </Fetched>
    </div>
  )
}

const PasswordForm = ({ tokens, consents }: Credentials) => {
  const management = useManagement()
  const { email } = useMe()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const [repeated, setRepeated] = useState('')
  const [isRepeatedWrong, setRepeatedWrong] = useState(false)
  const [keepTokens, setKept] = useState<string[]>([])
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error === undefined && !isRepeatedWrong) return
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error, isRepeatedWrong])
  const submit = async () => {
    setRepeatedWrong(repeated !== newPassword)
    if (repeated !== newPassword) return
    const changed = await send({ currentPassword, newPassword, keepTokens }, (input) => management.me.password(input))
    if (changed) leaveFor('/?password-changed')
  }
  return (
    <form
      ref={form}
      className="form"
      noValidate
      aria-busy={isBusy}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {trouble !== undefined && <Trouble error={trouble} />}
      <section className="card form-section">
        <h2>Change your password</h2>
        {/* For the browser, which remembers the new password with it. */}
        <input type="hidden" autoComplete="username" value={email} readOnly />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={setCurrent}
          error={errorAt('currentPassword')}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          help="8 characters or more."
          value={newPassword}
          onChange={setNew}
          error={errorAt('newPassword')}
        />
        <TextField
          label="New password, again"
          type="password"
          autoComplete="new-password"
          value={repeated}
          onChange={setRepeated}
          error={isRepeatedWrong ? 'This is not the same as the new password.' : undefined}
        />
      </section>
      <section className="card form-section">
        <h2>What is revoked</h2>
        <p>
          You are signed out in every browser, including this one. Invitations that you sent and nobody accepted are
          withdrawn.
        </p>
        {consents.length > 0 && (
          <>
            <p>These applications lose the access that you allowed them:</p>
            <ul>
              {consents.map(({ id, application, tenant }) => (
                <li key={id}>
                  {application}, in {tenant}
                </li>
              ))}
            </ul>
          </>
        )}
        {tokens.length > 0 && (
          <fieldset>
            <legend>These access tokens are revoked. Select any to keep:</legend>
            {tokens.map(({ id, name, tenant, createdAt, lastUsedAt }) => (
              <Checkbox
                key={id}
                label={`Keep “${name}”, in ${tenant}`}
                help={`Made on ${formatDay(createdAt)}, ${
                  lastUsedAt === null ? 'never used' : `last used on ${formatDay(lastUsedAt)}`
                }`}
                isChecked={keepTokens.includes(id)}
                onChange={(isKept) =>
                  setKept((before) => (isKept ? [...before, id] : before.filter((other) => other !== id)))
                }
              />
            ))}
          </fieldset>
        )}
      </section>
      <div className="form-actions">
        <button type="submit" className="button primary" aria-disabled={isBusy}>
          Change the password
        </button>
      </div>
    </form>
  )
}
