import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import readme from '../../../../client/README.md?raw'
import { Trouble } from '../../design/states.tsx'
import { signIn, useSession } from '../../session.tsx'
import { Code } from '../code.tsx'
import { Document, Section } from '../document.tsx'
import { AnswerText, type Exchange, type Request, RequestText, send } from '../exchange.tsx'
import {
  authorizationParameters,
  callRequest,
  decodeJwt,
  type Endpoints,
  exchangeRequest,
  findEndpoints,
  isTokenAnswer,
  leave,
  makePending,
  type Pending,
  type Return,
  redirectUri,
  refreshRequest,
  revokeRequest,
  takeReturn,
  trialName,
  trialScopes,
} from './pkce-trial.ts'

/** As the client's own README shows it, which a test runs. */
const clientCode = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].find(([, code]) => code?.includes('OAuthClient('))?.[1]

export const Page = () => {
  const [cameBack] = useState(takeReturn)
  const [isAgain, setAgain] = useState(false)
  const { data: endpoints, error } = useQuery({ queryKey: ['authorization server'], queryFn: findEndpoints })
  useEffect(() => {
    // A code is for one use, and for nobody's history.
    if (location.search) history.replaceState(history.state, '', location.pathname)
  }, [])
  return (
    <Document
      title="Acting for a user"
      lead="An application that others use asks each user for access, by OAuth 2.0 with PKCE, and never sees a password."
    >
      <Section title="How it goes">
        <p>
          Your application sends the user to Masthead with a secret's fingerprint (the <em>challenge</em>). The user
          signs in, sees what you ask for, and allows it. Masthead sends the user back with a <em>code</em>. Your
          application exchanges the code for tokens and shows the secret itself (the <em>verifier</em>), so a code that
          somebody else caught is worth nothing. There is no client secret to keep: pages in a browser and programs on a
          device use the same way.
        </p>
        <p>Here you do each step yourself. Everything on this page is really sent, from this browser.</p>
      </Section>
      {error && <Trouble error={error} />}
      <ol className="trial">
        {endpoints && cameBack && !isAgain && (
          <AfterConsent endpoints={endpoints} cameBack={cameBack} onAgain={() => setAgain(true)} />
        )}
        {endpoints && (!cameBack || isAgain) && <BeforeConsent endpoints={endpoints} />}
      </ol>
      {clientCode && (
        <Section title="The same in TypeScript and JavaScript">
          <p>
            <code>@masthead/client</code> makes verifier, challenge and state, checks what comes back, and renews tokens
            before they end, one renewal at a time.
          </p>
          <Code text={clientCode} label="Signing a user in with @masthead/client" />
        </Section>
      )}
      <Section title="What is refused">
        <ul className="points">
          <li>
            A redirect URI that is not, to the letter, one that was registered. Only the port of a loopback address may
            differ, for applications registered as native.
          </li>
          <li>
            A request without PKCE, or with the method <code>plain</code>.
          </li>
          <li>
            A scope that the application is not registered for: register what you need, and ask for less if you can.
          </li>
          <li>
            A code or refresh token that is used twice: it also ends what it gave, because one of the two was a thief.
          </li>
        </ul>
      </Section>
    </Document>
  )
}

const Step = ({ number, title, children }: { number: number; title: string; children: ReactNode }) => (
  <li className="card step" id={`step-${number}`}>
    <h2>
      <span className="step-number">{number}</span> {title}
    </h2>
    {children}
  </li>
)

const BeforeConsent = ({ endpoints }: { endpoints: Endpoints }) => {
  const [clientId, setClientId] = useState('')
  const [pending, setPending] = useState<Pending | null>(null)
  const [trouble, setTrouble] = useState<unknown>()
  const make = () => makePending(clientId.trim()).then(setPending, setTrouble)
  return (
    <>
      <Step number={1} title="Register the application">
        <p>
          Once for each application: its name, which users see, where they may be sent back to, and the scopes it may
          ask for. You get a <code>client_id</code>, which is no secret.
        </p>
        <Registration onRegistered={setClientId} />
        <div className="field">
          <label htmlFor="client-id">Client ID</label>
          <input
            id="client-id"
            className="input"
            value={clientId}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => {
              setClientId(event.target.value)
              setPending(null)
            }}
          />
        </div>
      </Step>
      <Step number={2} title="Make a verifier and its challenge">
        <p>
          The verifier is a random text, made anew for each request and kept in this browser's session. The challenge is
          its SHA-256, as base64url. <code>state</code> ties the answer to this request.
        </p>
        <button type="button" className="button" onClick={make} disabled={clientId.trim() === ''}>
          Make them
        </button>
        {trouble !== undefined && <Trouble error={trouble} />}
        {pending && (
          <Code
            label="Verifier, challenge and state"
            text={`code_verifier  ${pending.codeVerifier}\ncode_challenge ${pending.codeChallenge}\nstate          ${pending.state}`}
          />
        )}
      </Step>
      <Step number={3} title="Send the user to Masthead">
        <p>
          To the <code>authorization_endpoint</code> of{' '}
          <a href={`${endpoints.issuer}/.well-known/openid-configuration`}>the metadata</a>. The user signs in if
          necessary, chooses the organisation, and allows or denies what you ask for.
        </p>
        <p>
          If an admin of a tenant registered your application and the request has a mistake, Masthead shows it to the
          user and does not send it to your redirect URI, unless the user is signed in and has allowed your application
          before. With <code>prompt=none</code> your application is called back only while somebody is signed in.
        </p>
        {pending && (
          <Code
            label="Authorization address"
            text={`${endpoints.authorization_endpoint}\n  ?${[...authorizationParameters(pending)].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('\n  &')}`}
          />
        )}
        <button
          type="button"
          className="button primary"
          disabled={!pending}
          onClick={() => pending && leave(endpoints.authorization_endpoint, pending)}
        >
          Go to the consent page
        </button>
      </Step>
    </>
  )
}

/** An admin registers one here; the others need one's help. */
const Registration = ({ onRegistered }: { onRegistered: (clientId: string) => void }) => {
  const { signedIn } = useSession()
  const [isRegistered, setRegistered] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  if (!signedIn)
    return (
      <p>
        An administrator can register one here:{' '}
        <button type="button" className="link-button" onClick={() => signIn().catch(setTrouble)}>
          sign in
        </button>
        . Or enter the client ID of an application that has the redirect URI <code>{redirectUri}</code> and the scope{' '}
        <code>{trialScopes.join(' ')}</code>.
      </p>
    )
  const { management, me } = signedIn
  if (me.tenant.role !== 'admin')
    return (
      <p>
        Registering takes an administrator of {me.tenant.name}. Ask one to open this page, or to register an application
        with the redirect URI <code>{redirectUri}</code> and the scope <code>{trialScopes.join(' ')}</code>, and enter
        its client ID.
      </p>
    )
  const register = async () => {
    setTrouble(undefined)
    const { items } = await management.applications.list()
    const known = items.find((one) => one.disabledAt === null && one.redirectUris.includes(redirectUri))
    const application =
      known ??
      (await management.applications.create({
        name: trialName,
        redirectUris: [redirectUri],
        scopes: [...trialScopes],
        mayRefresh: true,
      }))
    onRegistered(application.clientId)
    setRegistered(true)
  }
  return (
    <>
      <p>
        For this trial: “{trialName}”, with the redirect URI <code>{redirectUri}</code>, the scope{' '}
        <code>{trialScopes.join(' ')}</code> and refresh tokens. Only members of {me.tenant.name} can allow it. If it is
        registered already, it is used again.
      </p>
      <button type="button" className="button" onClick={() => register().catch(setTrouble)} disabled={isRegistered}>
        {isRegistered ? 'Registered' : 'Register it'}
      </button>
      {trouble !== undefined && <Trouble error={trouble} />}
    </>
  )
}

type AfterProps = { endpoints: Endpoints; cameBack: Return; onAgain: () => void }

const AfterConsent = ({ endpoints, cameBack: { pending, code, state, error }, onAgain }: AfterProps) => {
  const [exchanged, setExchanged] = useState<Exchange>()
  const [called, setCalled] = useState<Exchange>()
  const [refreshed, setRefreshed] = useState<Exchange>()
  const [revoked, setRevoked] = useState<Exchange>()
  const [calledLate, setCalledLate] = useState<Exchange>()
  useEffect(() => {
    document.getElementById('step-4')?.scrollIntoView()
  }, [])
  const isOurs = state === pending.state
  const first = isTokenAnswer(exchanged?.answer.body) ? exchanged.answer.body : null
  const newest = isTokenAnswer(refreshed?.answer.body) ? refreshed.answer.body : first
  const revokedToken = newest?.refresh_token ?? newest?.access_token
  return (
    <>
      <Step number={4} title="The user comes back">
        <p>
          To your redirect URI, with the code and your <code>state</code>. Compare it with the one you kept, before
          anything else.
        </p>
        <Code label="What came back" text={`${code ? `code  ${code}` : `error ${error}`}\nstate ${state}`} />
        <p>
          {isOurs ? 'The state is the one that was kept.' : 'The state is another one: this answer is not for us.'}
          {error !== null && ' Access was not granted. That is the user’s right: go on without it.'}
        </p>
        <button type="button" className="button" onClick={onAgain}>
          Start again
        </button>
      </Step>
      {isOurs && code !== null && (
        <Attempt
          number={5}
          title="Exchange the code for tokens"
          button="Exchange the code"
          request={exchangeRequest(endpoints, pending, code)}
          exchange={exchanged}
          onDone={setExchanged}
          once
        >
          The verifier proves that it was you who asked. A code works once, and only for a short while: exchange it at
          once.
        </Attempt>
      )}
      {first && (
        <Step number={6} title="Look into the access token">
          <p>
            It is a JWT (RFC 9068). Your application need not read it, but a look helps: <code>aud</code> is the API,{' '}
            <code>sub</code> the user, <code>tenant</code> the organisation that the user chose, <code>scope</code> what
            was allowed, and it ends {first.expires_in / 60} minutes after it was made.
          </p>
          <Code label="Header and claims of the access token" text={decodeJwt(first.access_token)} />
        </Step>
      )}
      {first && (
        <Attempt
          number={7}
          title="Call the API"
          button="Call"
          request={callRequest(first.access_token)}
          exchange={called}
          onDone={setCalled}
        >
          As with any other token.
        </Attempt>
      )}
      {called && first?.refresh_token === undefined && (
        <Step number={8} title="Refresh">
          <p>This application is not registered for refresh tokens: when the access token ends, ask the user again.</p>
        </Step>
      )}
      {called && first?.refresh_token !== undefined && (
        <Attempt
          number={8}
          title="Refresh"
          button="Refresh the tokens"
          request={refreshRequest(endpoints, pending, first.refresh_token)}
          exchange={refreshed}
          onDone={setRefreshed}
          once
        >
          Before the access token ends, get another. The refresh token is replaced each time: keep the new one, the old
          one is spent.
        </Attempt>
      )}
      {called && endpoints.revocation_endpoint && revokedToken && (first?.refresh_token === undefined || refreshed) && (
        <Attempt
          number={9}
          title="Revoke"
          button="Revoke the access"
          request={revokeRequest(endpoints.revocation_endpoint, pending, revokedToken)}
          exchange={revoked}
          onDone={setRevoked}
          once
        >
          When the user signs out of your application. Everything that this consent gave ends at once.
        </Attempt>
      )}
      {revoked && newest && (
        <Attempt
          number={10}
          title="Call again"
          button="Call once more"
          request={callRequest(newest.access_token)}
          exchange={calledLate}
          onDone={setCalledLate}
        >
          The token has not expired, and is refused all the same.
        </Attempt>
      )}
    </>
  )
}

type AttemptProps = {
  number: number
  title: string
  button: string
  request: Request
  exchange: Exchange | undefined
  onDone: (exchange: Exchange) => void
  once?: true
  children: ReactNode
}

/** A step that is a request: what is sent, the button that sends it, and what was answered. */
const Attempt = ({ number, title, button, request, exchange, onDone, once, children }: AttemptProps) => {
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const attempt = async () => {
    setBusy(true)
    setTrouble(undefined)
    await send(request).then(onDone, setTrouble)
    setBusy(false)
  }
  return (
    <Step number={number} title={title}>
      <p>{children}</p>
      <RequestText request={exchange?.request ?? request} label={`Request: ${title}`} />
      <button
        type="button"
        className="button primary"
        onClick={attempt}
        disabled={isBusy || (once && exchange !== undefined)}
      >
        {button}
      </button>
      {trouble !== undefined && <Trouble error={trouble} />}
      {exchange && <AnswerText answer={exchange.answer} to={title} />}
    </Step>
  )
}
