import { useState } from 'react'
import { CopyButton } from '../design/copy-button.tsx'
import { formatInstant } from '../design/formats.ts'
import { Trouble } from '../design/states.tsx'
import { signIn, useSession } from '../session.tsx'
import { tokenDays, useReader } from './reader.tsx'

/** Fills a token of the reader's own into the examples. */
export const TokenCard = () => {
  const { signedIn } = useSession()
  const { token, makeToken, revokeToken } = useReader()
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const attempt = async (action: () => Promise<void>) => {
    setBusy(true)
    setTrouble(undefined)
    await action().catch(setTrouble)
    setBusy(false)
  }
  return (
    <section className="card token-card" aria-label="Your token">
      {!signedIn && (
        <>
          <p>The examples hold a placeholder. Sign in, and they hold a token of yours.</p>
          <button type="button" className="button primary" onClick={() => attempt(() => signIn())} disabled={isBusy}>
            Sign in
          </button>
        </>
      )}
      {signedIn && !token && (
        <>
          <p>
            Make a personal access token for <strong>{signedIn.me.tenant.name}</strong>, and every example on these
            pages holds it. It may read all records, nothing else, and ends after {tokenDays} days. It is shown now and
            never again: this page forgets it when you leave or reload.
          </p>
          <button type="button" className="button primary" onClick={() => attempt(makeToken)} disabled={isBusy}>
            Make a token
          </button>
        </>
      )}
      {token && (
        <>
          <p>
            Every example holds your token now, and so does the reference. It may read all records, and ends on{' '}
            {formatInstant(token.expiresAt)}.
          </p>
          <p className="with-button">
            <code>{token.token}</code>
            <CopyButton text={token.token} label="Copy the token" />
            <button type="button" className="button" onClick={() => attempt(revokeToken)} disabled={isBusy}>
              Revoke it
            </button>
          </p>
        </>
      )}
      {trouble !== undefined && <Trouble error={trouble} />}
    </section>
  )
}
