import { useEffect, useRef, useState } from 'react'
import { useConnection } from './connection.ts'
import { Trouble } from './design/states.tsx'
import { signIn, useSession } from './session.tsx'

/** For who is not signed in. */
export const Welcome = () => {
  const { trouble } = useSession()
  const [failure, setFailure] = useState<unknown>(trouble)
  const connection = useConnection()
  const wasAway = useRef(false)
  useEffect(() => {
    if (connection !== 'reached') wasAway.current = true
    else if (wasAway.current) location.reload()
  }, [connection])
  const search = new URLSearchParams(location.search)
  const hasNewPassword = search.has('password-changed')
  const isBack = search.has('signed-out') || hasNewPassword
  const begin = () => signIn(isBack ? { returnTo: '/' } : {}).catch(setFailure)
  return (
    <main className="welcome">
      <title>Masthead</title>
      <div className="card welcome-card">
        <p className="wordmark">Masthead</p>
        <h1>{isBack ? 'You are signed out' : 'Sign in to the console'}</h1>
        <p className="muted">
          {hasNewPassword
            ? 'Your password is changed. Sign in with the new one.'
            : 'Accounts, contacts, publications, subscriptions and invoices of your publishing business.'}
        </p>
        {failure !== undefined && <Trouble error={failure} onRetry={begin} />}
        <button type="button" className="button primary" onClick={begin}>
          Sign in
        </button>
        <p className="small muted">
          You build with the API? <a href="/docs">Read the documentation</a>.
        </p>
      </div>
    </main>
  )
}
