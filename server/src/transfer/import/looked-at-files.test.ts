import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { managementApi, resourceNames, storedFieldsOf } from '@masthead/contract'
import pg from 'pg'
import { ConsoleBrowser, manage } from '../../../test/browsers/console-session.ts'
import { newPerson } from '../../../test/browsers/oauth-browser.ts'
import { until } from '../../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertAnswers } from '../../../test/requests/contract-responses.ts'
import { startService, walk } from '../../../test/service.ts'

const service = await startService()

const named = (name: string) => {
  const found = managementApi.operations.find((operation) => operation.name === name)
  if (!found) throw new Error(`there is no operation ${name}`)
  return found
}

const newAdmin = async () => {
  const tenant = await service.newTenant()
  const person = await newPerson(service, [tenant, 'admin'])
  const { management: token } = await new ConsoleBrowser(service.origin).signIn(person)
  const call = (method: string, path: string, body?: unknown) =>
    manage(service.origin, method, path, { token, ...(body !== undefined && { body }) })
  const send = async (fileName: string, content: string | Uint8Array, resource?: string) => {
    const run = await call('POST', '/import-runs', { fileName, ...(resource && { resource }) })
    assertAnswers(named('CreateImportRun'), run)
    const path = `/import-runs/${run.body.id}`
    await call('POST', `${path}/parts`, { number: 1, content: Buffer.from(content).toString('base64') })
    return path
  }
  /** Asks for something to be done with the file, and waits for its end. */
  const ask = async (path: string, what: 'inspect' | 'check' | 'start') => {
    const begun = await call('POST', `${path}/${what}`)
    assert.equal(begun.status, 200, begun.text)
    return ended(path)
  }
  const ended = async (path: string) => {
    let answer = await call('GET', path)
    await until('the run ends', async () => {
      answer = await call('GET', path)
      return answer.body.state !== 'running'
    })
    assertAnswers(named('GetImportRun'), answer)
    return answer.body
  }
  const change = async (path: string, body: unknown) => {
    const answer = await call('PATCH', path, body)
    assert.equal(answer.status, 200, answer.text)
    assertAnswers(named('UpdateImportRun'), answer)
  }
  const customer = await tenant.serviceToken()
  return { tenant, call, send, ask, ended, change, list: (path: string) => walk(service, customer, path) }
}

/** As Excel in Germany writes it: semicolons, Windows-1252, days first and decimal commas. */
const german = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1')
const invoices = german(
  'Rechnungsnummer;Kundennr;Status;Rechnungsdatum;Gesamtbetrag;Sachbearbeiterin',
  'R-1;A-1;offen;01/02/2026;1.234,50;J\xfcrgen',
  'R-2;A-1;paid;03/04/2026;99,00;',
  'R-3;A-9;paid;05/04/2026;1,00;Gro\xdf',
)

describe('a file that is sent', () => {
  test('is looked at, decided about, checked and imported, and the next one with its header is known', async () => {
    const { tenant, send, ask, change, list } = await newAdmin()
    await tenant.add('accounts', [sampleAccount('A-1')])
    const path = await send('export 2026.csv', invoices)
    const { state, resource, inspection } = await ask(path, 'inspect')
    assert.deepEqual([state, resource], ['inspected', 'invoices'])
    const { format, encoding, separator, rows, resourceNoticed, unknown, isRemembered } = inspection
    assert.deepEqual(
      [format, encoding, separator, rows, resourceNoticed, unknown, isRemembered],
      ['csv', 'windows-1252', ';', 3, 'columns', ['Sachbearbeiterin'], false],
    )
    assert.deepEqual(inspection.columns.at(-1), {
      ...{ heading: 'Sachbearbeiterin', examples: ['Jürgen', 'Groß'], field: null, match: 'unknown', values: 2 },
    })
    assert.deepEqual(inspection.columns[1], {
      ...{ heading: 'Kundennr', examples: ['A-1', 'A-1', 'A-9'], field: 'accountId', match: 'name', values: 3 },
    })
    assert.deepEqual(inspection.statuses, [{ field: 'status', value: 'offen', count: 1 }])
    const [dates, amounts] = inspection.formats
    assert.deepEqual(dates, {
      ...{ field: 'issueDate', heading: 'Rechnungsdatum', format: '', fits: 0, values: 3, option: 'dates' },
      choices: [
        { value: 'dmy', example: '01/02/2026 is 2026-02-01' },
        { value: 'mdy', example: '01/02/2026 is 2026-01-02' },
      ],
    })
    assert.deepEqual([amounts.format, amounts.fits, amounts.values], ['numbers like 1.234,56', 3, 3])
    assert.deepEqual(inspection.problems, [
      'It has a column "Sachbearbeiterin" ("Jürgen", "Groß"), which invoices do not have.',
      'issueDate: "01/02/2026" can be two days.',
    ])

    const options = {
      dates: 'dmy',
      columns: [{ heading: 'Sachbearbeiterin', field: 'notes' }],
      translations: [{ field: 'status', from: 'Offen', to: 'open' }],
    }
    await change(path, { options })
    const decided = (await ask(path, 'inspect')).inspection
    assert.deepEqual([decided.problems, decided.unknown, decided.statuses], [[], [], []])
    assert.deepEqual(decided.preview, {
      fields: ['accountId', 'status', 'issueDate', 'total', 'notes', 'externalId'],
      rows: [
        { line: 2, values: ['A-1', 'open', '2026-02-01', '1234.50', 'Jürgen', 'R-1'], problem: null },
        { line: 3, values: ['A-1', 'paid', '2026-04-03', '99.00', null, 'R-2'], problem: null },
        { line: 4, values: ['A-9', 'paid', '2026-04-05', '1.00', 'Groß', 'R-3'], problem: null },
      ],
    })
    const checked = await ask(path, 'check')
    assert.deepEqual([checked.state, checked.created, checked.refused], ['checked', 2, 1])
    assert.deepEqual(checked.groups, [
      {
        ...{ column: 'accountId', reason: 'there is no such account in this tenant', count: 1, lines: [4] },
        example: 'there is no account "A-9" in this tenant',
      },
    ])
    assert.deepEqual(await list('/invoices'), [])
    assert.deepEqual((await ask(path, 'start')).state, 'done')
    assert.deepEqual(
      (await list('/invoices')).map(({ total, status, notes }) => [total, status, notes]),
      [
        ['1234.50', 'open', 'Jürgen'],
        ['99.00', 'paid', null],
      ],
    )

    const next = await ask(await send('another.csv', invoices), 'inspect')
    assert.deepEqual([next.inspection.isRemembered, next.options, next.inspection.problems], [true, options, []])
  })

  test('gives its refused rows back as they came', async () => {
    const { send, ask, call } = await newAdmin()
    const path = await send('export.csv', invoices, 'invoices')
    await call('PATCH', path, { options: { dates: 'dmy', ignoreUnknown: true } })
    assert.equal((await ask(path, 'check')).hasRejectedRows, true)
    const checked = (await call('GET', `${path}/rejected-rows`)).body
    assert.equal((await ask(path, 'start')).refused, 3)
    const { body } = await call('GET', `${path}/rejected-rows`)
    assert.deepEqual(checked, body)
    assert.equal(body.fileName, 'export.csv.rejected.csv')
    const [head, first] = Buffer.from(body.content, 'base64').toString('latin1').split('\n')
    const columns = 'Rechnungsnummer;Kundennr;Status;Rechnungsdatum;Gesamtbetrag;Sachbearbeiterin'
    assert.equal(head, `rejected_line;rejected_column;rejected_reason;${columns}`)
    assert.match(first ?? '', /^2;accountId;.*;R-1;A-1;offen;01\/02\/2026;"1\.234,50";J\xfcrgen$/)
  })

  test('whose columns tell nothing is asked about', async () => {
    const { send, ask, change } = await newAdmin()
    const path = await send('table.csv', 'Nummer;Bezeichnung\n1;Eins\n')
    const { inspection } = await ask(path, 'inspect')
    assert.deepEqual(inspection.problems, ['The columns do not tell what the file holds: choose it.'])
    await change(path, { resource: 'publications', options: { columns: [{ heading: 'Nummer', field: 'code' }] } })
    const { resource, inspection: decided } = await ask(path, 'inspect')
    assert.deepEqual([resource, decided.resourceNoticed, decided.problems], ['publications', 'given', []])
  })

  test('is not changed while it is read, nor when it is imported, and nothing is cancelled then', async () => {
    const { send, ask, call } = await newAdmin()
    const path = await send('publications.csv', 'code\nP\n')
    assert.equal((await call('POST', `${path}/cancel`)).status, 409)
    await ask(path, 'start')
    assert.equal((await call('PATCH', path, { options: {} })).status, 409)
    assert.equal((await call('POST', `${path}/cancel`)).status, 409)
  })

  test('is cancelled in the middle, and what it has written is taken back', async (context) => {
    const { tenant, send, ended, call, list } = await newAdmin()
    await tenant.add('accounts', [sampleAccount('A-1')])
    const rows = Array.from({ length: 4_000 }, (_, index) => `C-${index},Company ${index}\n`)
    const path = await send('accounts.csv', `accountId,company\n${rows.join('')}`)
    // The second batch waits for somebody who adds one of its accounts.
    const adding = new pg.Client(service.connectionString)
    await adding.connect()
    context.after(() => adding.end())
    await adding.query('begin')
    await adding.query(`select set_config('masthead.tenant', $1, true)`, [tenant.id])
    const changes = { id: randomUUID(), account_id: 'C-3999', position: 1_000_000, version: 1_000_000 }
    await adding.query(
      `insert into accounts select (json_populate_record(account, $2)).* from accounts as account where tenant_id = $1`,
      [tenant.id, JSON.stringify(changes)],
    )
    await call('POST', `${path}/start`)
    await until('the second batch waits', async () => {
      const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await service.owner.query(text)).rows.length === 1
    })
    const cancelled = await call('POST', `${path}/cancel`)
    assertAnswers(named('CancelImport'), cancelled)
    await adding.query('rollback')
    const { state, removed, importId } = await ended(path)
    assert.deepEqual([state, removed], ['cancelled', 2_500])
    assert.equal((await list('/accounts')).length, 1)
    const { items } = (await call('GET', '/imports')).body
    assert.deepEqual([items[0].id, items[0].state], [importId, 'undone'])
    await call('POST', `${path}/start`)
    assert.equal((await ended(path)).created, 4_000)
  })
})

test('a template has the columns of its resource', async () => {
  const { call } = await newAdmin()
  for (const resource of resourceNames) {
    const answer = await call('GET', `/import-templates/${resource}`)
    assertAnswers(named('GetImportTemplate'), answer)
    const text = Buffer.from(answer.body.content, 'base64').toString()
    assert.equal(text, `\uFEFF${storedFieldsOf(resource).map(({ name }) => name)}\n`)
  }
  assert.equal((await call('GET', '/import-templates/nothing')).status, 404)
})
