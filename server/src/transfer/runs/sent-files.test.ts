import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { ConsoleBrowser, manage } from '../../../test/browsers/console-session.ts'
import { newPerson } from '../../../test/browsers/oauth-browser.ts'
import { startServing, until } from '../../../test/processes/masthead-process.ts'
import { environmentOf } from '../../../test/records/import-files.ts'
import { sampleAccount, sampleContact } from '../../../test/records/sample-records.ts'
import { packedAgain, workbookFile } from '../../../test/records/zip-file.ts'
import { baseUrl, freeAddress, startService } from '../../../test/service.ts'
import { zipFile } from '../files/zip-file.ts'

const service = await startService()

/** The processes that the service has begun, in their order. */
const begun: ChildProcess[] = []
subscribe('child_process', (message) => {
  begun.push((message as { process: ChildProcess }).process) // as Node documents it
})
const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

const newAdmin = async () => {
  const tenant = await service.newTenant()
  const person = await newPerson(service, [tenant, 'admin'])
  const { management: token } = await new ConsoleBrowser(service.origin).signIn(person)
  const callOn = (origin: string) => (method: string, path: string, body?: unknown) =>
    manage(origin, method, path, { token, ...(body !== undefined && { body }) })
  const call = callOn(service.origin)
  const send = async (fileName: string, content: string | Uint8Array, resource = 'accounts') => {
    const { body: run, text } = await call('POST', '/import-runs', { fileName, resource })
    assert.ok(run.id, text)
    const path = `/import-runs/${run.id}`
    const bytes = Buffer.from(content)
    for (let start = 0, number = 1; start < bytes.length; start += 180_000, number++) {
      const part = bytes.subarray(start, start + 180_000).toString('base64')
      assert.equal((await call('POST', `${path}/parts`, { number, content: part })).status, 200)
    }
    return path
  }
  const ended = async (path: string) => {
    let run = { state: '', problem: '', refused: 0, refusals: [{ reason: '' }] }
    const isEnded = async () => {
      run = (await call('GET', path)).body
      return run.state !== 'running'
    }
    await until('the run ends', isEnded, 120_000)
    return run
  }
  const check = async (path: string) => {
    const { status, text } = await call('POST', `${path}/check`)
    assert.equal(status, 200, text)
  }
  return { tenant, call, callOn, send, check, ended }
}

const admin = await newAdmin()
const header = 'accountId,company\n'
/** The same member again and again, as compressing all of it at once would take seconds. */
const repeated = (text: string, count: number) => {
  const most = Math.ceil(1_000_000 / text.length)
  const part = (times: number) => gzipSync(Buffer.alloc(text.length * times, text))
  const whole = Math.floor(count / most)
  return Buffer.concat([...(whole > 0 ? Array<Buffer>(whole).fill(part(most)) : []), part(count % most)])
}

/** Reads of another tenant and the processor time that the serving thread spends in one go, until it is told to end. */
const watchOthers = async () => {
  const other = await service.newTenant()
  await other.add('accounts', [sampleAccount('A-1')])
  await other.add('contacts', [sampleContact('A-1')])
  const token = await other.serviceToken()
  let last = process.threadCpuUsage()
  let longest = 0
  const ticking = setInterval(() => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - last.user - last.system)
    last = now
  }, 25)
  let isOver = false
  let count = 0
  const reading = (async () => {
    // Now and then, so that the import has the processor.
    for (; !isOver; count++, await delay(200))
      assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
  })()
  return async () => {
    isOver = true
    await reading
    clearInterval(ticking)
    return { count, longestMilliseconds: longest / 1_000 }
  }
}

describe('a file that is made to cost much is refused while others are served', () => {
  const sheet = '<worksheet><sheetData>'
  const files: Record<string, [fileName: string, content: Uint8Array, problem: RegExp]> = {
    'a line of brackets': [
      ...(['deep.ndjson.gz', repeated('[', 7_000_000)] as const),
      /^is nested deeper than 100 levels$/,
    ],
    'a longer line of brackets': [
      ...(['deep.ndjson.gz', repeated('[', 86_000_000)] as const),
      /^Line 1 of deep\.ndjson\.gz is longer than 16 MiB: write one JSON object a line\.$/,
    ],
    'a row of commas': [
      ...(['commas.csv.gz', Buffer.concat([gzipSync(header), repeated(',', 46_000_000)])] as const),
      /^The row on line 2 of commas\.csv\.gz is longer than 16 MiB/,
    ],
    'many cells': [
      ...(['cells.csv.gz', Buffer.concat([gzipSync(header), repeated(`${','.repeat(20_000)}\n`, 1_000)])] as const),
      /^The row on line 2 of cells\.csv\.gz has more than 10,000 cells: choose a file that holds a table\.$/,
    ],
    'many columns': [
      ...(['columns.csv.gz', repeated('"company",', 4_000_000)] as const),
      /^The row on line 1 of columns\.csv\.gz (has more than 10,000 cells|is longer than 16 MiB)/,
    ],
    'blank lines below a header': [
      ...(['blank.csv.gz', Buffer.concat([gzipSync(header), repeated('\n', 2_300_000_000)])] as const),
      /^blank\.csv\.gz has more than 5,000,000 rows: split it/,
    ],
    'blank lines and no header': [
      ...(['none.csv.gz', repeated('\r\n', 1_150_000_000)] as const),
      /^none\.csv\.gz has more than 5,000,000 rows: split it/,
    ],
    'blank lines of NDJSON': [
      ...(['blank.ndjson.gz', repeated('\n', 2_300_000_000)] as const),
      /^blank\.ndjson\.gz has more than 5,000,000 rows: split it into several files, or ask the operator/,
    ],
    'a cell without end': [
      ...(['cell.csv.gz', Buffer.concat([gzipSync(`${header}1,"`), repeated('x', 300_000_000)])] as const),
      /^The row on line 2 of cell\.csv\.gz is longer than 16 MiB: close the quote that is left open, or choose a file that holds a table\.$/,
    ],
    'a cell of doubled quotes': [
      ...(['quotes.csv.gz', Buffer.concat([gzipSync(`${header}1,`), repeated('""', 50_000_000)])] as const),
      /^The row on line 2 of quotes\.csv\.gz is longer than 16 MiB/,
    ],
    'a workbook of one text': [
      ...(['text.xlsx', workbookFile(packedAgain(`${sheet}<row><c t="inlineStr"><is><t>`, 'x', 300_000_000))] as const),
      /^text\.xlsx\/.* (has a text that is longer than 16 MiB|is longer than 16 MiB)/,
    ],
    'a workbook of rows': [
      ...(['rows.xlsx', workbookFile(packedAgain(sheet, '<row/>', 300_000_000))] as const),
      /^rows\.xlsx has more than 5,000,000 rows: split it/,
    ],
    'a workbook of cells': [
      ...(['cells.xlsx', workbookFile(packedAgain(`${sheet}<row>`, '<c><v>1</v></c>', 30_000_000))] as const),
      /^Row 1 of cells\.xlsx\/.* has more than 10,000 cells/,
    ],
    'a workbook of shared texts': [
      ...([
        'strings.xlsx',
        workbookFile(`${sheet}</sheetData></worksheet>`, {
          'xl/sharedStrings.xml': packedAgain('<sst>', `<si><t>${'x'.repeat(40)}</t></si>`, 20_000_000),
        }),
      ] as const),
      /^strings\.xlsx\/.* has more texts than fit into memory: save the sheet as CSV/,
    ],
    'a workbook of tags in tags': [
      ...(['deep.xlsx', workbookFile(packedAgain(sheet, '<a>', 300_000_000))] as const),
      /^deep\.xlsx\/.* is nested deeper than 100 levels/,
    ],
    'a workbook of entities': [
      ...(['laughs.xlsx', workbookFile(`<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>${sheet}&c;`)] as const),
      /^laughs\.xlsx\/.* declares entities, which no workbook does/,
    ],
    'an archive that unpacks to very much': [
      ...([
        'bomb.zip',
        zipFile({ 'accounts.csv': packedAgain(header, `A-1,${'x'.repeat(996)}\n`, 2_300_000) }),
      ] as const),
      /^bomb\.zip holds more than 2,000,000,000 bytes, unpacked/,
    ],
    'an archive of many files': [
      'many.zip',
      zipFile(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`accounts-${index}.csv`, '']))),
      /^many\.zip lists more than 10,000 files/,
    ],
    'an array of brackets': [
      ...(['deep.json.gz', Buffer.concat([gzipSync('[{"a":'), repeated('[', 86_000_000)])] as const),
      /^deep\.json\.gz cannot be read: object 1 is longer than 16 MiB/,
    ],
  }
  for (const [name, [fileName, content, problem]] of Object.entries(files)) {
    test(name, async () => {
      const path = await admin.send(fileName, content)
      const end = await watchOthers()
      await admin.check(path)
      const run = await admin.ended(path)
      const { count, longestMilliseconds } = await end()
      assert.match(run.problem ?? run.refusals[0]?.reason, problem)
      assert.ok(count > 0)
      // In processor time: however busy the machine is, it takes a few.
      assert.ok(longestMilliseconds < 500, `the serving thread was busy for ${longestMilliseconds} ms`)
    })
  }

  test('rows of brackets and of values, one by one', async () => {
    const lines = [
      '['.repeat(1_000_000),
      `{"a":[${'1,'.repeat(400_000)}1]}`,
      '{"accountId":"A-1"}',
      `{"accountId":"${'['.repeat(60)}"}`,
    ]
    const path = await admin.send('lines.ndjson', lines.join('\n'))
    await admin.check(path)
    const { refused, refusals } = await admin.ended(path)
    assert.deepEqual(
      [refused, ...refusals.map(({ reason }) => reason)],
      [2, 'is nested deeper than 100 levels', 'has more than 10,000 values'],
    )
  })
})

describe('the process of an import', () => {
  /** What is judged waits for the lock. */
  const hold = async () => {
    const holder = new pg.Client(service.connectionString)
    await holder.connect()
    await holder.query('begin')
    await holder.query('lock table accounts in access exclusive mode')
    after(() => holder.end())
    return () => holder.query('commit')
  }
  const waiting = async () => {
    const { rowCount } = await service.owner.query(
      `select from pg_locks where relation = 'accounts'::regclass and not granted`,
    )
    return rowCount ?? 0
  }
  const foldersOf = (home: string) => readdirSync(home).filter((name) => name.startsWith('masthead-import-'))

  test('that runs out of memory ends alone, and the file is refused', async () => {
    const admin = await newAdmin()
    const path = await admin.send('accounts.csv', `${header}A-1,Acme\n`)
    const release = await hold()
    await admin.check(path)
    await until('it is judged', async () => (await waiting()) === 1)
    begun.findLast(isAlive)?.kill('SIGABRT') // as V8 ends it
    const { state, problem } = await admin.ended(path)
    assert.deepEqual(
      [state, problem],
      ['failed', 'accounts.csv takes more than 256 MiB of memory to import: split it into several files.'],
    )
    await release()
    await until('the database has noticed', async () => (await waiting()) === 0)
    await admin.check(path)
    assert.equal((await admin.ended(path)).state, 'checked')
  })

  /** More than a million bytes are a large file, in however few rows. */
  const large = `${header}${Array.from({ length: 5_000 }, (_, index) => `A-${index},${'Company '.repeat(25)}${index}\n`).join('')}`
  assert.ok(large.length > 1_000_000)

  test('waits for those of other tenants, two at a time, one of them large', async () => {
    const admins = await Promise.all([1, 2, 3, 4].map(newAdmin))
    const paths = await Promise.all(
      admins.map(({ send }, index) => send('accounts.csv', index < 2 ? large : `${header}A-1,Acme\n`)),
    )
    const release = await hold()
    for (const [index, { check }] of admins.entries()) await check(paths[index] ?? '')
    await until('two are judged', async () => (await waiting()) === 2)
    const alive = () => begun.filter(isAlive).length
    assert.equal(alive(), 2)
    await release()
    for (const [index, { ended }] of admins.entries()) assert.equal((await ended(paths[index] ?? '')).state, 'checked')
    assert.equal(alive(), 2, 'a process that did well is used again')
  })

  test('that ends makes room for all who have waited for it', async () => {
    const [one, other] = [await newAdmin(), await newAdmin()]
    const [path, waitingPath] = [await one.send('accounts.csv', large), await other.send('accounts.csv', large)]
    const token = await one.tenant.serviceToken()
    const release = await hold()
    await one.check(path)
    await until('it is judged', async () => (await waiting()) === 1)
    await other.check(waitingPath)
    const { id } = (await service.call('POST', '/exports', { token, body: { resources: ['publications'] } })).body
    await one.call('POST', `${path}/cancel`)
    assert.equal((await one.ended(path)).state, 'cancelled')
    await until('the next large one is judged', async () => (await waiting()) === 1)
    await until('a small one of its tenant is done', async () => {
      const { state } = (await service.call('GET', `/exports/${id}`, { token })).body
      return state === 'done'
    })
    await release()
    assert.equal((await other.ended(waitingPath)).state, 'checked')
  })

  const childOf = (pid: number) => {
    const threads = readdirSync(`/proc/${pid}/task`)
    const children = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
    return Number.parseInt(children.join(''), 10)
  }

  for (const workers of ['1', '2']) {
    for (const end of ['SIGTERM', 'SIGKILL', 'SIGKILL while it is suspended'] as const) {
      test(`ends with a service of ${workers} by ${end}, and leaves no file`, async () => {
        const [{ callOn, send }, home] = [await newAdmin(), await mkdtemp(join(tmpdir(), 'masthead-home-'))]
        after(() => rm(home, { recursive: true, force: true }))
        const path = await send('accounts.csv', `${header}A-1,Acme\n`)
        const address = await freeAddress()
        const environment = { ...environmentOf(service), BASE_URL: baseUrl, TMPDIR: home, WORKERS: workers }
        const serving = await startServing(['--port', new URL(address).port, '--host', '127.0.0.1'], environment)
        const release = await hold()
        assert.equal((await callOn(address)('POST', `${path}/check`)).status, 200)
        await until('it is judged', async () => (await waiting()) === 1)
        assert.equal(foldersOf(home).length, 1)
        const child = childOf(serving.pid)
        const isSuspended = end === 'SIGKILL while it is suspended'
        if (isSuspended) process.kill(child, 'SIGSTOP')
        await (end === 'SIGTERM' ? serving.stop() : serving.kill())
        if (isSuspended) {
          await delay(1_100) // It reports its progress each second, also to nobody.
          process.kill(child, 'SIGCONT')
        }
        await until('its files are gone', () => foldersOf(home).length === 0)
        await release()
        await until('the database has noticed', async () => (await waiting()) === 0)
      })
    }
  }
})
