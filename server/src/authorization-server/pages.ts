import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { allows, type Role, type Scope, scopes as scopeWords } from '@masthead/contract'
import { calm, foreign, Html, html } from './html.ts'

export const pageStyle = readFileSync(new URL('page-style.css', import.meta.url), 'utf8')
const pageStyleHash = `sha256-${createHash('sha256').update(pageStyle).digest('base64')}`

/** Pages need no script and load nothing. */
export type Page = { status: number; html: string; contentSecurityPolicy: string }

type Tenant = { id: string; name: string; role: Role }

/** Where a form may redirect the browser: the redirect URI, its origin or its scheme; null when nowhere else. */
type Callback = string | null

const focus = html` autofocus`
const invalid = html` aria-invalid="true" aria-describedby="problem"`
const alert = (problem: string): Html => html`<p class="alert" role="alert" id="problem">${foreign(problem)}</p>`

export type SignIn = {
  action: string
  application: string
  email?: string
  problem?: string
  cancel: string
  callbackOrigin?: Callback
}

export const signInPage = ({ action, application, email, problem, cancel, callbackOrigin }: SignIn): Page => {
  const isInvalid = problem !== undefined && invalid
  return page('Sign in', { hasProblem: problem !== undefined, callbackOrigin })`
      <h1>Sign in</h1>
      <p>to continue to <strong>${applicationName(application)}</strong></p>
      ${problem !== undefined && alert(problem)}
      <form method="post" action="${action}">
        <label for="email">E-mail address</label>
        <input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false"
          required value="${email ?? ''}"${isInvalid}${!email && focus}>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password"
          required${isInvalid}${!!email && focus}>
        <button class="primary wide">Sign in</button>
      </form>
      <form method="post" action="${cancel}"><button class="wide">Cancel</button></form>`
}

type AccountChoice = { action: string; cancel: string; tenants: Tenant[]; callbackOrigin?: Callback }

/** Shown when the password opens several accounts of the address. */
export const accountChoicePage = ({ action, cancel, tenants, callbackOrigin }: AccountChoice): Page =>
  page('Choose an organisation', { callbackOrigin })`
      <h1>Choose an organisation</h1>
      <p>You have more than one account with this e-mail address and password.</p>
      <form method="post" action="${action}">
        <fieldset>
          <legend>Where do you want to sign in?</legend>${tenants.map((tenant, index) => tenantRadio(tenant, index, []))}
        </fieldset>
        <button class="primary wide">Continue</button>
      </form>
      <form method="post" action="${cancel}"><button class="wide">Cancel</button></form>`

type Invitation = {
  action: string
  tenant: string
  email: string
  role: Role
  name: string
  problem?: { with: 'new' | 'existing'; text: string }
}

/** The page does not reveal whether the address has an account. */
export const invitationPage = ({ action, tenant, email, role, name, problem }: Invitation): Page => {
  const alertOf = (form: 'new' | 'existing') => problem?.with === form && alert(problem.text)
  const invalidOf = (form: 'new' | 'existing') => problem?.with === form && invalid
  return page('Accept an invitation', { hasProblem: problem !== undefined })`
      <h1>Join ${foreign(tenant)}</h1>
      <p>as ${roleWords[role]}, with the e-mail address <strong>${foreign(email)}</strong></p>
      <h2>Choose a password</h2>
      ${alertOf('new')}
      <form method="post" action="${action}">
        <input type="hidden" name="account" value="new">
        <input type="hidden" name="email" autocomplete="username" value="${email}">
        <label for="name">Your name</label>
        <input id="name" name="name" type="text" autocomplete="name" maxlength="255" required value="${name}"${invalidOf('new')}>
        <label for="new-password">Password, of 8 characters or more</label>
        <input id="new-password" name="password" type="password" autocomplete="new-password" minlength="8"
          required${invalidOf('new')}>
        <button class="primary wide">Join</button>
      </form>
      <h2>Or use the account that you have</h2>
      ${alertOf('existing')}
      <form method="post" action="${action}">
        <input type="hidden" name="account" value="existing">
        <input type="hidden" name="email" autocomplete="username" value="${email}">
        <label for="password">Password of your Masthead account</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required${invalidOf('existing')}>
        <button class="wide">Sign in and join</button>
      </form>`
}

export type Consent = {
  action: string
  application: string
  /** Where the user is sent afterwards, in a form that they recognise. */
  redirectHost: string
  user: string
  scopes: Scope[]
  tenants: Tenant[]
  callbackOrigin: Callback
  switchUser: string
}

export const consentPage = (given: Consent): Page => {
  const { action, scopes, tenants, callbackOrigin } = given
  if (tenants.length === 0) return noTenantPage(given)
  // Nothing has the focus, so that a key pressed by habit allows nothing.
  return page('Allow or deny access', { callbackOrigin })`
      <h1>Allow access to your Masthead data?</h1>
      ${parties(given)}
      <h2>The application asks to</h2>
      <ul class="scopes" role="list">
        ${scopes.length === 0 ? html`<li>Know who you are</li>` : scopes.map((scope) => html`<li>${scopeWords[scope]}</li>`)}
      </ul>
      <form method="post" action="${action}">
        ${tenantChoice(tenants, scopes)}
        <div class="choice">
          <button class="primary" name="decision" value="allow">Allow</button>
          ${denyButton}
        </div>
      </form>
      <p class="muted after">You can withdraw this at any time in the Masthead console.</p>`
}

const noTenantPage = ({ action, callbackOrigin, ...given }: Consent): Page =>
  page('Deny access: you belong to no organisation', { status: 403, callbackOrigin })`
      <h1>You have no access to give</h1>
      <p>You are not a member of any organisation that this application may use, so it cannot be allowed anything.
        An administrator of your organisation can add you.</p>
      ${parties(given)}
      <form method="post" action="${action}"><div class="choice">${denyButton}</div></form>`

// The user need not choose an organisation in order to deny.
const denyButton = html`<button name="decision" value="deny" formnovalidate>Deny</button>`

const parties = (given: Pick<Consent, 'application' | 'redirectHost' | 'user' | 'switchUser'>): Html => html`
  <dl>
    <dt>Application</dt>
    <dd class="name">${applicationName(given.application)}</dd>
    <dt>Afterwards you are sent to</dt>
    <dd>${foreign(given.redirectHost)}</dd>
    <dt>Signed in as</dt>
    <dd>${foreign(given.user)}
      <form method="post" action="${given.switchUser}">
        <button class="link">Not you? Sign in as someone else</button>
      </form>
    </dd>
  </dl>`

const tenantChoice = (tenants: Tenant[], scopes: Scope[]): Html => {
  const [first, ...others] = tenants
  if (first && others.length === 0) {
    return html`
      <h2>In this organisation</h2>
      <p><strong>${foreign(first.name)}</strong> <small>You are ${roleWords[first.role]}</small></p>
      <input type="hidden" name="tenant" value="${first.id}">${roleNote(first, scopes)}`
  }
  return html`
    <fieldset>
      <legend>In which organisation?</legend>${tenants.map((tenant, index) => tenantRadio(tenant, index, scopes))}
    </fieldset>`
}

const tenantRadio = (tenant: Tenant, index: number, scopes: Scope[]): Html => {
  const id = `tenant-${index + 1}`
  const note = roleNote(tenant, scopes)
  return html`
    <div class="tenant">
      <label for="${id}">
        <input id="${id}" type="radio" name="tenant" value="${tenant.id}" required${note && html` aria-describedby="${id}-note"`}>
        <span>${foreign(tenant.name)} <small>You are ${roleWords[tenant.role]}</small></span>
      </label>
      ${note && html`<div id="${id}-note">${note}</div>`}
    </div>`
}

const roleWords: Readonly<Record<Role, string>> = { admin: 'an admin', editor: 'an editor', viewer: 'a viewer' }

const roleNote = ({ role }: Tenant, scopes: Scope[]): Html | undefined => {
  const excluded = scopes.filter((scope) => !allows(role, scope))
  if (excluded.length === 0) return undefined
  return html`
    <div class="note">
      Your role there does not include
      <ul>${excluded.map((scope) => html`<li>${scopeWords[scope]}</li>`)}</ul>
      The application cannot do this unless your role changes.
    </div>`
}

type Failure = { status: number; title: string; detail: string; technical?: string; requestId?: string }

export const errorPage = ({ status, title, detail, technical, requestId }: Failure): Page =>
  page(title, { status })`
      <h1>${foreign(title)}</h1>
      <p>${foreign(detail)}</p>
      ${technical !== undefined && html`<p class="muted">For those who run the application: <code>${foreign(technical)}</code></p>`}
      ${requestId !== undefined && html`<p class="muted">Reference: <code>${foreign(requestId)}</code></p>`}`

/** `form` is the markup of the library with its secret; our buttons submit it by its id. */
export const signOutPage = ({ form, formId }: { form: string; formId: string }): Page =>
  page('Sign out?')`
      <h1>Sign out of Masthead?</h1>
      <p class="muted">Applications that you have allowed keep their access.</p>
      ${new Html(form)}
      <div class="choice">
        <button class="primary" form="${formId}" name="logout" value="yes">Sign out</button>
        <button form="${formId}">Stay signed in</button>
      </div>`

export const signedOutPage = (): Page =>
  page('You are signed out')`<h1>You are signed out</h1><p>You can close this page.</p>`

/** With an invisible name the page would read as if Masthead itself were asking. */
const applicationName = (name: string): Html =>
  foreign(/[^\p{Default_Ignorable_Code_Point}\p{Cc}\s\u2800]/u.test(name) ? name : 'An application without a name')

type PageOptions = { hasProblem?: boolean; status?: number; callbackOrigin?: Callback | undefined }

/** A template of a page's content. */
const page =
  (title: string, { hasProblem = false, status = hasProblem ? 422 : 200, callbackOrigin }: PageOptions = {}) =>
  (...content: Parameters<typeof html>): Page => ({
    status,
    html: html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${calm(title)}${hasProblem && ': there is a problem'} – Masthead</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta name="robots" content="noindex">
    <style>${new Html(pageStyle)}</style>
  </head>
  <body>
    <header class="wordmark">Masthead</header>
    <main>${html(...content)}
    </main>
  </body>
</html>
`.toString(),
    contentSecurityPolicy: [
      `default-src 'none'`,
      `style-src '${pageStyleHash}'`,
      // Chromium also applies this to the redirects that follow a form.
      `form-action 'self'${callbackOrigin ? ` ${callbackSource(callbackOrigin)}` : ''}`,
      `frame-ancestors 'none'`,
      `base-uri 'none'`,
    ].join('; '),
  })

/** CSP source expressions have no IPv6 addresses, so those are allowed by their scheme, like an application's own scheme. */
const callbackSource = (callback: string): string => {
  const { protocol, hostname, origin } = new URL(callback)
  return /^https?:$/.test(protocol) && /^[a-z0-9._-]+$/.test(hostname) ? origin : protocol
}
