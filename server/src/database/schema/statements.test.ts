import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  listOperationOf,
  managementApi,
  type NamedOperation,
  operations,
  type Resource,
  resourceNames,
  resources,
} from '@masthead/contract'
import { ConsoleBrowser, manage } from '../../../test/browsers/console-session.ts'
import { authorize, newApplication, newPerson } from '../../../test/browsers/oauth-browser.ts'
import { attachTo } from '../../../test/outside/webhook-receiver.ts'
import { RecordedStatements, statementsText, unmetStatements } from '../../../test/recorded-statements.ts'
import { newFolder } from '../../../test/records/import-files.ts'
import { unnamedTenants } from '../../../test/records/named-tenants.ts'
import { populatedTenant } from '../../../test/records/populated-tenant.ts'
import { callOperation, validRequest } from '../../../test/requests/valid-requests.ts'
import { baseUrl, linksOf, startService } from '../../../test/service.ts'
import { operator } from '../../audit/author.ts'
import { exportAudit } from '../../audit/export.ts'
import { chainWaiting, countWaiting, isInChain, verifyChain } from '../../audit/queries.ts'
import { endSession } from '../../authorization-server/adapter.ts'
import { webhookEndpoints } from '../../doctor/queries.ts'
import { setApplicationDisabled } from '../../identity/people/applications.ts'
import { hasConsented, withdrawConsentsOfSession } from '../../identity/people/consents.ts'
import { allowMail, consumeInvitation } from '../../identity/people/invitations.ts'
import { listMembers, removeMember } from '../../identity/people/members.ts'
import { setTimeZone } from '../../identity/people/tenants.ts'
import {
  emailKey,
  findUser,
  hashPasswordOf,
  proveAddress,
  removePassword,
  setSubject,
} from '../../identity/people/users.ts'
import { listTokens, rotateToken } from '../../identity/tokens/access-tokens.ts'
import { makeCanary, newTwins, removeCanaries } from '../../probe/canaries.ts'
import { fillKeys } from '../../records/filled-keys.ts'
import { newSearchTidier } from '../../records/lists/search.ts'
import { shardedWriteFunctions } from '../../records/writes/sharded-write.ts'
import { eraseContact } from '../../resources/contacts/erasure.ts'
import { isKnownContact } from '../../resources/contacts/queries.ts'
import { exportRecords } from '../../transfer/export/export.ts'
import {
  type Attempt,
  countRecords,
  createExport,
  deleteOldExports,
  endExport,
  failExport,
  storeProgress as storeExportProgress,
  takeExport,
  withdrawExports,
} from '../../transfer/export/export-jobs.ts'
import { makeExport } from '../../transfer/export/export-work.ts'
import { importFiles } from '../../transfer/import/import.ts'
import { deleteOldImages } from '../../transfer/import/journal.ts'
import { undoImport } from '../../transfer/import/undo.ts'
import {
  addPart,
  cancelRun,
  changeRun,
  createRun,
  deleteOldRuns,
  endRun,
  failRun,
  findMapping,
  partsOf,
  readRejectedRows,
  rememberMapping,
  storeProgress,
  storeRejectedRows,
  takeRun,
} from '../../transfer/runs/runs.ts'
import {
  type Claimed,
  claimDelivery,
  countAllDeliveries,
  findDueEndpoints,
  putBack,
  settleDelivered,
  settleFailed,
  takeWakes,
  wakeWhenDue,
  wakeWhereDue,
} from '../../webhooks/deliveries/queries.ts'
import { deleteOldEvents } from '../../webhooks/history/queries.ts'
import { detach, retry } from '../../webhooks/legacy/administration.ts'
import { deleteOldIdempotencyRecords } from '../idempotency-records.ts'
import type { TenantQuery } from '../tenant-query.ts'
import { findTenantTables, withoutPolicy } from '../tenant-tables.ts'
import { noteSource, versionsFrom } from '../versions.ts'

/** A tour through all that the service does; what it sends on the way is looked at below. */
const recorded = new RecordedStatements()
const service = await startService({
  // It makes its signing keys itself.
  delegation: { issuer: baseUrl, secret: 'a secret that no other test has' },
  through: (database) => recorded.through(database),
})
const { database } = service
const { tenant, records, token, word } = await populatedTenant(service)
const scope = database.forTenant(tenant.id)
const tenantTables = (await findTenantTables(database.query)).map(({ name }) => name)
const held = tenantTables.filter((name) => !withoutPolicy.includes(name))

const call = async (method: string, path: string, body?: object, headers = {}) => {
  const answer = await service.call(method, path, { token, headers, ...(body && { body }) })
  assert.ok(answer.status < 500, answer.text)
  return answer
}

const operationNamed = (name: string): NamedOperation => {
  const found = operations.find((one) => one.name === name)
  assert.ok(found, name)
  return found
}

const subsetsOf = <T>(all: readonly T[]): T[][] =>
  all.reduce<T[][]>((sets, one) => sets.concat(sets.map((set) => [...set, one])), [[]])

test('every list answers with each of its filters, at each depth, after a cursor and with a search', async () => {
  for (const name of resourceNames) {
    const { listing }: Resource = resources[name]
    const list = listOperationOf(name)
    if (!listing || !list) continue
    const filters = listing.filters.map((field) => `${field}=${field === 'status' ? 'active' : records.publication.id}`)
    const account = 'accountId' in (list.query?.properties ?? {}) ? [`accountId=${records.account.accountId}`] : []
    const search = listing.search.length > 0 ? [`search=${word}`] : []
    const shown = Object.keys({ ...listing.leftOutUnless, ...listing.onlyWithout }).map(
      (parameter) => `${parameter}=true`,
    )
    for (const conditions of subsetsOf([...filters, ...account, ...search])) {
      for (const classes of shown.length > 0 ? [[], shown] : [[]]) {
        const query = [...conditions, ...classes].join('&')
        const first = await call('GET', `/${name}?pageSize=1&${query}`)
        const { next } = linksOf(first.headers)
        if (next) await call('GET', next)
        for (const page of [2, 30, 100_000]) await call('GET', `/${name}?page=${page}&${query}`)
      }
    }
  }
})

test('every list answers in an order, by filters of which no totals are kept, and both, with many records and with few', async () => {
  const many = { from: '0001-01-01', to: '9999-12-31' }
  for (const query of [
    'sort=name',
    'sort=-name&pageSize=1',
    'email=a%40example.com',
    'sort=name&email=a%40example.com',
    `search=${word}&sort=name`,
    `ids=${records.contact.id}`,
    'includeHidden=true&sort=email',
    'changedFrom=2020-01-01T00:00:00Z&sort=name',
  ])
    for (let path: string | undefined = `/contacts?${query}`; path; )
      path = linksOf((await call('GET', path)).headers).next
  for (const query of [
    'sort=-dueDate',
    'overdue=true',
    'overdue=false&sort=total',
    'isOpen=true&sort=dueDate',
    'status=open&sort=-issueDate',
    `dueDateFrom=${many.from}&dueDateTo=${many.to}&sort=dueDate`,
    `dueDateFrom=${many.from}&sort=total`,
  ])
    await call('GET', `/invoices?${query}`)
  await call('GET', `/accounts?ids=${records.account.accountId},${records.account.id}`)
})

test('every operation of the customer API succeeds, also as a retry, and with a legacy system', async () => {
  for (const step of ['alone', 'attached']) {
    for (const named of operations) {
      const { status } = await callOperation(service.call, named, records, { token })
      assert.equal(status, named.operation.status, named.name)
      if (named.operation.method !== 'POST') continue
      const headers = { 'idempotency-key': `${step} ${named.name}` }
      for (const attempt of [1, 2])
        assert.equal(
          (await callOperation(service.call, named, records, { token, headers })).status,
          status,
          `${attempt}`,
        )
    }
    await call('POST', '/contacts', { accountId: records.account.id })
    await call('POST', '/contacts', { accountId: 'nobody' })
    await call('DELETE', `/contacts/${records.contact.id}`)
    await call('PATCH', `/contacts/${records.contact.id}`, { accountId: records.account.accountId, deletedAt: null })
    for (const { path } of [validRequest('GetSubscriptionById', records), validRequest('GetPublicationById', records)])
      await call('GET', `${path}x`)
    if (step === 'alone') await attachTo(service, tenant, { url: 'http://127.0.0.1:1/', secret: '' })
  }
})

test('deliveries are claimed, settled, failed, put back, retried and given up', async () => {
  const taken = { status: 200, error: null, isSilent: false, response: '', retryAfter: null, milliseconds: 1 }
  const away = { ...taken, status: null, error: 'away', isSilent: true }
  const [endpointId = ''] = await findDueEndpoints(scope)
  for (const settle of [
    (claimed: Claimed) => settleDelivered(scope, claimed, taken),
    (claimed: Claimed) => putBack(scope, claimed),
    ...[1, 2, 3, 4].map(() => (claimed: Claimed) => settleFailed(scope, claimed, away, { delivery: 0, endpoint: 0 })),
  ]) {
    const claimed = await claimDelivery(scope, endpointId)
    if (claimed) await settle(claimed)
  }
  await service.owner.query('update webhook_endpoints set resumes_at = null, rests_until = null')
  const claimed = await claimDelivery(scope, endpointId)
  assert.ok(claimed)
  await settleDelivered(scope, claimed, taken)
  // What is left then waits behind one in flight.
  while (await claimDelivery(scope, endpointId));
  await wakeWhenDue(scope, endpointId)
  await wakeWhereDue(database)
  await takeWakes(database)
  await countAllDeliveries(database)
  await webhookEndpoints(scope.read)
  await retry(scope)
  await detach(scope, true)
})

test('people sign in, and every operation of the console succeeds or is refused', async () => {
  const person = await newPerson(service, [tenant, 'admin'])
  const member = await newPerson(service, [tenant, 'viewer'])
  const { management } = await new ConsoleBrowser(service.origin).signIn(person)
  const console = async (method: string, path: string, body?: object) => {
    const answer = await manage(service.origin, method, path, { token: management, ...(body && { body }) })
    assert.ok(answer.status < 500, answer.text)
    return answer.body
  }
  const { id: tokenId } = await console('POST', '/tokens', { name: 'Mine', scopes: ['contacts:read'] })
  await console('DELETE', `/tokens/${tokenId}`)
  const given = { service: 'Sync', scopes: ['contacts:read'] }
  const { id: serviceTokenId } = await console('POST', '/service-tokens', given)
  await console('POST', `/service-tokens/${serviceTokenId}/rotate`, {})
  await console('DELETE', `/service-tokens/${serviceTokenId}`)
  await console('PATCH', `/members/${member.id}`, { role: 'editor', legacyUserId: 'E-1' })
  const { id: invitationId } = await console('POST', '/invitations', { email: 'new@example.com', role: 'viewer' })
  await console('DELETE', `/invitations/${invitationId}`)
  const application = await newApplication(service)
  await authorize(service.origin, { application, person, tenantId: tenant.id })
  const { items } = await console('GET', '/consents')
  await console('DELETE', `/consents/${items[0].id}`)
  for (const { operation } of managementApi.operations.filter(({ operation }) => operation.method === 'GET'))
    await console('GET', operation.path.replaceAll(/\{\w+\}/g, serviceTokenId))
  await console('GET', `/history/accounts/${records.account.id}`)
  await console('POST', '/legacy-system/retry')
  await console('PATCH', '/tenant', { timeZone: 'Europe/Berlin' })
  const webhook = { url: 'http://127.0.0.1:1/', events: ['contact.created', 'import.completed'] }
  const { id: endpointId } = await console('POST', '/webhook-endpoints', webhook)
  const endpoint = `/webhook-endpoints/${endpointId}`
  await callOperation(service.call, operationNamed('CreateContactRecord'), records, { token })
  const { id: deliveryId } = await console('POST', `${endpoint}/test`)
  for (const state of ['', '?state=waiting', '?state=delivered', '?state=failed'])
    await console('GET', `${endpoint}/deliveries${state}`)
  await console('GET', `${endpoint}/deliveries/${deliveryId}`)
  await console('POST', `${endpoint}/deliveries/${deliveryId}/resend`)
  await console('POST', `${endpoint}/replay`, { since: '2026-01-01T00:00:00.000Z' })
  await console('POST', `${endpoint}/rotate-secret`)
  await console('PATCH', endpoint, { description: 'Sync', isDisabled: true })
  await console('PATCH', endpoint, { isDisabled: false })
  await service.owner.query(`update webhook_events set created_at = now() - interval '31 days'`)
  await deleteOldEvents(scope)
  await console('DELETE', endpoint)
  await console('DELETE', `/members/${member.id}`)
  const run = await console('POST', '/import-runs', { fileName: 'contacts.csv', resource: 'contacts' })
  await console('GET', `/import-runs/${run.id}/rejected-rows`)
  const passwords = { currentPassword: person.password, newPassword: 'another horse battery' }
  await console('PATCH', '/me/password', passwords)
  const changed = { ...person, password: passwords.newPassword }
  for (const everywhere of [false, true]) {
    const { management: token } = await new ConsoleBrowser(service.origin).signIn(changed)
    assert.equal((await manage(service.origin, 'POST', '/me/sign-out', { token, body: { everywhere } })).status, 200)
  }
})

test('operators administer people and applications', async () => {
  const { clientId } = await newApplication(service)
  const [person, other] = [await newPerson(service, [tenant, 'admin']), await newPerson(service, [tenant, 'viewer'])]
  await hashPasswordOf(database.query, 'new@example.com', 'correct horse battery')
  await database.transaction(async (query) => {
    await setApplicationDisabled(query, operator, clientId, true)
    await hasConsented(query, person.id, clientId)
    await setTimeZone(query, operator, tenant.id, 'Europe/Berlin')
    await allowMail(query, tenant.id, person.email)
    await consumeInvitation(query, 'nothing')
    await withdrawConsentsOfSession(query, operator, 'nothing')
    await endSession(query, 'nothing')
    const user = await findUser(query, person.id)
    assert.ok(user)
    await setSubject(query, user, 'subject')
    await removePassword(query, operator, user)
    await query({ text: 'select stamp_identity()' })
  })
  await service.owner.query('update users set email_key = $1, tenant_id = $2 where id = $3', [
    emailKey(person.email),
    tenant.id,
    other.id,
  ])
  await database.transaction(async (query) => {
    const user = await findUser(query, person.id)
    assert.ok(user)
    assert.deepEqual(await proveAddress(query, user), [tenant.id])
  })
})

test('files are imported, changed, pruned, undone and exported, and runs come and go', async () => {
  const folder = await newFolder()
  const signal = new AbortController().signal
  const request = { folder, format: 'ndjson', gzip: false, spreadsheet: false, replace: true, signal } as const
  await exportRecords(scope, { ...request, folder: await newFolder(), format: 'csv', onProgress: () => {} })
  await exportRecords(scope, { ...request, onProgress: () => {} })
  const other = await service.newTenant()
  const copy = database.forTenant(other.id)
  const files = resourceNames.map((name) => join(folder, `${name}.ndjson`))
  const { id } = await importFiles(copy, files)
  const renewals = ['L-2', 'L-1', ''].map((subscriptionId) => {
    const renewedFromSubsId = subscriptionId === 'L-2' ? 'L-1' : null
    const { accountId, publicationId } = records.subscription
    return JSON.stringify({ subscriptionId, renewedFromSubsId, accountId, publicationId })
  })
  await importFiles(copy, [await newFolder({ 'subscriptions.ndjson': renewals.join('\n') })])
  const contact = { id: records.contact.id, accountId: records.account.accountId, name: 'Changed' }
  const changed = await newFolder({ 'contacts.ndjson': JSON.stringify(contact) })
  const pruned = await importFiles(copy, [changed], { prune: true, force: true })
  for (const past of [pruned.id, id]) await undoImport(copy, String(past))
  await deleteOldImages(copy)
  await copy.transaction(async (query) => {
    const { id } = await createRun(query, { kind: 'import', fileName: 'contacts.csv', resource: 'contacts' })
    await addPart(query, id, 1, Buffer.from('email'))
    await takeRun(query, id)
    await storeProgress(query, id, null)
    for await (const part of partsOf(query, id)) assert.ok(part)
    await failRun(query, id, 'no')
    await storeRejectedRows(query, id, { name: 'contacts.csv.rejected.csv', file: Buffer.from('email') })
    await readRejectedRows(query, id)
    await changeRun(query, id, { resource: 'contacts', options: { dates: 'dmy' } })
    await cancelRun(query, id)
    await rememberMapping(query, 'header', { resource: 'contacts', options: { dates: 'dmy' } })
    assert.ok(await findMapping(query, 'header'))
    await endRun(query, id, { state: 'done' })
  })
  await service.owner.query(`update import_runs set created_at = now() - interval '2 days'`)
  await deleteOldRuns(copy)
})

test('exports are asked for, made, given up, taken up again, withdrawn and forgotten', async () => {
  const other = await service.newTenant()
  const copy = database.forTenant(other.id)
  const given = { resources: ['contacts'], filters: {}, format: 'csv', gzip: false, spreadsheet: false } as const
  const { signal } = new AbortController()
  const ended = async (end: (query: TenantQuery, attempt: Attempt) => Promise<void>) => {
    const job = await copy.transaction((query) => createExport(query, { ...given, resources: ['contacts'] }))
    assert.ok(typeof job !== 'string')
    const attempt = await copy.transaction((query) => takeExport(query, job.id))
    const task = { ...job, attempt: attempt ?? 0 }
    await copy.transaction((query) => storeExportProgress(query, task, null))
    const made = await makeExport(copy, task, { signal, onProgress: () => {} })
    await copy.transaction(async (query) => {
      assert.ok((await countRecords(query, job.resources)) >= 0)
      await end(query, task)
    })
    return made
  }
  await ended((query, task) => endExport(query, task, { files: [], asOf: new Date().toISOString() }))
  await ended((query, task) => failExport(query, task, 'no'))
  await ended(async (query, { id }) => {
    await query({ text: `update exports set seen_at = now() - interval '1 hour', attempt = 3 where tenant_id = $1` })
    assert.equal(await takeExport(query, id), null)
  })
  await copy.transaction((query) => withdrawExports(query, 'contacts'))
  await service.owner.query(`update exports set expires_at = now() where tenant_id = $1`, [other.id])
  await deleteOldExports(copy)
})

test('the audit log is chained, verified and exported, a contact erased, and canaries come and go', async () => {
  await chainWaiting(database)
  await newSearchTidier(database)()
  await countWaiting(database.query)
  await scope.inBulk(async (_client, query) => {
    assert.equal((await verifyChain(query)).broken, null)
    await isInChain(query, '00')
  })
  const { signal } = new AbortController()
  await exportAudit(scope, join(await newFolder(), 'audit.ndjson'), { signal, onEntries: () => {} })
  assert.ok(await isKnownContact(scope, records.contact.id))
  assert.ok(!(await isKnownContact(scope, tenant.id)))
  await eraseContact(scope, operator, records.contact.id)
  await database.transaction(fillKeys)
  await deleteOldIdempotencyRecords(scope)
  await makeCanary(database, newTwins(), 1)
  await removeCanaries(database)
  const [first] = await listTokens(database.query, tenant.id)
  if (first) await database.transaction((query) => rotateToken(query, operator, first.id, 0))
  const [member] = await listMembers(database.query, tenant.id)
  if (member) await database.transaction((query) => removeMember(query, operator, tenant.id, member.email))
  // As with replicas.
  await versionsFrom(database.readVersions, 0, async () => {})(tenant.id)
  await noteSource(database.query, 'elsewhere')
})

test('a list is searched again after a minute', async (context) => {
  const now = performance.now.bind(performance)
  context.mock.method(performance, 'now', () => now() + 61_000)
  await call('GET', `/contacts?search=${word}`)
})

test('statements.sql shows every statement that the service sends', async (context) => {
  const text = statementsText(recorded)
  const path = fileURLToPath(new URL('./statements.sql', import.meta.url))
  context.assert.fileSnapshot(text, path, { serializers: [String] })
})

test('sharded-functions.sql shows the functions that write where tables are sharded', (context) => {
  const text = `-- Generated by \`npm run generate\` from the contract: never change this file.\n${shardedWriteFunctions().join(';\n')};\n`
  const path = fileURLToPath(new URL('./sharded-functions.sql', import.meta.url))
  context.assert.fileSnapshot(text, path, { serializers: [String] })
})

test('the tour meets every statement in the sources, with exceptions that only get fewer', () => {
  assert.deepEqual(unmetStatements(recorded), [
    // Of two processes that take one code at the same moment, the second sends these.
    'authorization-server/adapter.ts: delete from authorization_state where model = $1 and grant_i',
    'authorization-server/adapter.ts: select grant_id from authorization_state where model = $1 an',
    'identity/tokens/outside-issuer.ts: select membership.tenant_id as "tenantId", membership.user_i',
    // Where tables are sharded.
    'records/writes/sharded-write.ts: delete from search_texts where tenant_id = tenant and resour',
    'records/writes/sharded-write.ts: select id, body, position from',
    'records/writes/sharded-write.ts: select record.position, record.class,',
    "transfer/demo/demo.ts: select pg_advisory_xact_lock(hashtext('masthead demo'))",
    'transfer/import/staging/copied-records.ts: insert into pg_temp.',
  ])
})

test('every statement names the tenant for each table of tenants that it touches', () => {
  const found = [...recorded.senders].flatMap(([text, senders]) => {
    const unnamed = unnamedTenants(text, held)
    return unnamed.length > 0 ? [`${[...senders].join(', ')}: ${unnamed.join(', ')} in ${text}`] : []
  })
  assert.deepEqual(found, [])
})

test('so does every function that is no part of an extension', async () => {
  const { rows } = await service.owner.query<{ name: string; body: string }>(`
    select proname as name, prosrc as body from pg_proc
    where pronamespace = 'public'::regnamespace and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`)
  const sharded = shardedWriteFunctions().map((body) => ({
    name: body.slice(0, 60),
    body: body.slice(body.indexOf('$$')),
  }))
  const found = [...rows, ...sharded].flatMap(({ name, body }) => {
    // Versions are read for several tenants, and nothing else is.
    const isNamed =
      name === 'versions_on_shards'
        ? /tenant_id = any \(tenants\)/g
        : /tenant_id (=|is not distinct from) (tenant|current_tenant\(\))/g
    const named = body.replaceAll(isNamed, 'tenant_id = $$1').replaceAll(/values \(tenant,/g, 'values ($$1,')
    return named.split(';').flatMap((text) => unnamedTenants(text, held).map((table) => `${name}: ${table}`))
  })
  assert.deepEqual(found, [])
})

test('a statement that names no tenant is found, wherever the table stands in it', () => {
  const statements = {
    'select 1 from contacts where tenant_id = $1 and id = $2': [],
    'select 1 from contacts where id = $1': ['contacts'],
    'select 1 from contacts as a join accounts as b on b.tenant_id = $1 where a.tenant_id = $1': [],
    'select 1 from contacts as a join accounts as b on b.id = a.id where a.tenant_id = $1': ['accounts'],
    'select 1 from contacts where tenant_id = $1 and exists (select from accounts where id = $2)': ['accounts'],
    'select 1 from contacts where tenant_id = $1 union all select 1 from accounts': ['accounts'],
    'update contacts set name = $1': ['contacts'],
    'delete from contacts using accounts where contacts.tenant_id = $1': ['accounts'],
    'insert into contacts (id) values ($1)': ['contacts'],
    'insert into contacts (tenant_id, id) values ($1, $2)': [],
    'insert into contacts (tenant_id, id) select $1, id from accounts': ['accounts'],
    'select 1 from contacts where tenant_id = $10': ['contacts'],
    "select ' from contacts '": [],
  }
  for (const [text, expected] of Object.entries(statements))
    assert.deepEqual(unnamedTenants(text, ['contacts', 'accounts']), expected, text)
})

test('a statement of the door that does not use its first parameter fails', async () => {
  await assert.rejects(
    scope.inBulk((_client, query) => query({ text: 'select 1' })),
    { code: '08P01' },
  )
  await assert.rejects(scope.read({ text: 'select $2::text', values: ['x'] }), { code: '42P18' })
})
