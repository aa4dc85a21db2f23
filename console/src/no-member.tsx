import { useState } from 'react'
import { Trouble } from './design/states.tsx'
import { inTenant } from './paths.ts'
import { signIn, useMe } from './session.tsx'

/** For who opens an address of a tenant and is no member of it. It does not tell whether there is such a tenant. */
export const NoMember = ({ of }: { of: string }) => {
  const { email, tenants } = useMe()
  const [failure, setFailure] = useState<unknown>()
  const signInAgain = () => signIn({ prompt: 'login', tenant: of }).catch(setFailure)
  return (
    <main className="welcome">
      <title>No access · Masthead</title>
      <div className="card welcome-card">
        <p className="wordmark">Masthead</p>
        <h1>You are not a member of “{of}”</h1>
        <p className="muted">
          You are signed in as {email}. Ask an admin of this organisation to invite you, or check the address.
        </p>
        {failure !== undefined && <Trouble error={failure} />}
        <ul className="ways">
          {tenants.map(({ id, slug, name }) => (
            <li key={id}>
              <a href={inTenant(slug, '/')}>Go to {name}</a>
            </li>
          ))}
        </ul>
        <button type="button" className="button" onClick={signInAgain}>
          Sign in with another account
        </button>
      </div>
    </main>
  )
}
