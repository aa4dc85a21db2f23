import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { newToken } from '../../src/identity/token-format.ts'
import {
  actionOf,
  authorizationRequest,
  Browser,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
  post,
  refresh,
} from '../browsers/oauth-browser.ts'
import { sendRaw } from '../requests/raw-connection.ts'
import type { Service } from '../service.ts'
import { sampleAccount } from './sample-records.ts'

/** What was sent to a service, or came from it, and must be seen nowhere else. */
export type Canaries = {
  secrets: string[]
  /** The ids of requests that failed on the side of the service. */
  failures: { status: number; requestId: string }[]
}

/**
 * Goes through the service at `url`, which shares the database of the other and calls itself by its name, with personal
 * data and secrets wherever a caller can put them.
 */
export const sendCanaries = async (service: Service, url: string): Promise<Canaries> => {
  const secrets: string[] = []
  const canary = (what: string): string => {
    const text = `canary-${what}-${randomUUID()}`
    secrets.push(text)
    return text
  }
  const tenant = await service.newTenant(canary('tenant'))
  await tenant.add('accounts', [sampleAccount('A')])
  const token = await tenant.serviceToken()
  secrets.push(token, tenant.slug)
  const failures: Canaries['failures'] = []

  type Sent = { token?: string; body?: unknown; headers?: Record<string, string>; status: number }
  const call = async (method: string, path: string, { status, body, headers, token: other = token }: Sent) => {
    const response = await fetch(`${url}/customer-api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${other}`,
        'x-canary': canary('header'),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.equal(response.status, status, text)
    const requestId = response.headers.get('x-request-id') ?? ''
    if (status >= 500) failures.push({ status, requestId })
    return JSON.parse(text || '{}')
  }

  const person = {
    name: canary('name'),
    firstName: canary('first'),
    lastName: canary('last'),
    notes: canary('notes'),
    email: `${canary('email')}@example.com`,
    phone: canary('phone').slice(0, 50),
    title: canary('title'),
  }
  secrets.push(person.phone)
  const created = await call('POST', '/contacts', {
    body: { accountId: 'A', ...person },
    status: 201,
    headers: { 'idempotency-key': canary('key') },
  })
  await call('PATCH', `/contacts/${created.id}`, { body: { accountId: 'A', notes: canary('more') }, status: 200 })
  await call('GET', `/contacts?search=${canary('search')}`, { status: 200 })
  await call('GET', `/contacts?${canary('parameter')}=1`, { status: 400 })
  await call('GET', `/contacts?cursor=${canary('cursor')}`, { status: 400 })
  await call('GET', `/contacts/${canary('id')}`, { status: 404 })
  await call('GET', `/${canary('path')}`, { status: 404 })
  await call('POST', '/contacts', { body: { accountId: canary('account'), name: 'x' }, status: 422 })
  await call('POST', '/contacts', { body: { accountId: 'A', [canary('property')]: 1 }, status: 422 })
  await call('POST', '/contacts', { body: `{"name": "${canary('broken')}`, status: 400 })
  await call('POST', '/contacts', { body: canary('media'), headers: { 'content-type': 'text/plain' }, status: 415 })
  await call('PATCH', `/contacts/${created.id}`, {
    body: { accountId: 'A' },
    headers: { 'if-match': `"${canary('tag')}"` },
    status: 412,
  })
  for (const given of [canary('token'), newToken('service'), `a.${canary('jwt')}.b`]) {
    secrets.push(given)
    await call('GET', '/contacts', { token: given, status: 401 })
  }
  const bad = await sendRaw(url, `GET /${canary('raw')} HTTP/9.9\r\nX-Y: ${canary('raw-header')}\r\n\r\n`)
  assert.equal(bad.status, 400)

  // What the database refuses, in words that hold what was written, and without.
  const { owner } = service
  const failing = async (raise: string, status: number) => {
    await owner.query(`create function fail() returns trigger language plpgsql as $$ begin ${raise}; end $$`)
    await owner.query('create trigger fail before insert on contacts for each row execute function fail()')
    const body = { accountId: 'A', name: canary('refused'), email: `${canary('refused')}@example.com` }
    const id = `given.${status}.${randomUUID()}`
    await call('POST', '/contacts', { body, status, headers: { 'x-request-id': id } })
    assert.equal(failures.at(-1)?.requestId, id)
    await call('POST', '/contacts', { body, status })
    await owner.query('drop function fail() cascade')
  }
  await failing(`raise exception 'no % here', new.name using detail = new.email`, 500)
  await failing('perform new.name::uuid', 500)
  await failing(`raise serialization_failure`, 503)
  await owner.query('alter table invoices rename to hidden')
  await call('GET', `/invoices?status=${canary('status')}`, { status: 500 })
  await owner.query('alter table hidden rename to invoices')

  // People: a wrong password, then the right one, and all that an application is given.
  const application = await newApplication(service, { name: canary('application') })
  const user = await newPerson(service, [tenant, 'viewer'])
  secrets.push(user.email, user.password)
  const browser = new Browser(url)
  const signInPage = await browser.follow(authorizationRequest(application, newVerifier(), { state: canary('state') }))
  const wrong = { email: user.email, password: canary('password') }
  const refused = await browser.visit(actionOf(signInPage, 'sign-in') ?? '', wrong)
  assert.equal(refused.status, 401)
  const unknown = { email: `${canary('unknown')}@example.com`, password: canary('password') }
  await browser.visit(actionOf(signInPage, 'sign-in') ?? '', unknown)
  const exchange = await obtainCode(url, { application, person: user, request: { state: canary('state') } })
  secrets.push(exchange.code, exchange.code_verifier)
  const { body: tokens } = await post(url, '/oauth2/token', exchange)
  secrets.push(tokens.access_token, tokens.refresh_token, tokens.id_token)
  await call('GET', '/contacts', { token: tokens.access_token, status: 200 })
  const refreshed = await refresh(url, application, tokens.refresh_token)
  secrets.push(refreshed.body.access_token, refreshed.body.refresh_token)
  const again = await post(url, '/oauth2/token', exchange)
  assert.equal(again.body.error, 'invalid_grant')
  await post(url, '/oauth2/token', { grant_type: canary('grant'), client_id: canary('client') })
  await post(url, '/oauth2/revoke', { token: refreshed.body.refresh_token, client_id: application.clientId })
  await fetch(`${url}/oauth2/authorize?client_id=${canary('client')}&state=${canary('state')}`)
  return { secrets, failures }
}

/** Those that occur in the text; codes and tokens also when only a part of them does. */
export const found = (secrets: readonly string[], text: string): string[] => {
  assert.ok(secrets.length > 30 && secrets.every((secret) => typeof secret === 'string' && secret.length > 8))
  return secrets.filter((secret) => text.includes(secret) || text.includes(secret.slice(0, 40)))
}
