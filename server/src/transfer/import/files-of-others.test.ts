import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { importKeyOf } from '@masthead/contract'
import { ConsoleBrowser, manage } from '../../../test/browsers/console-session.ts'
import { newPerson } from '../../../test/browsers/oauth-browser.ts'
import { archive, type CorpusFile, corpus, expectedOf } from '../../../test/files/corpus.ts'
import { type CorpusResource, publications, records, type SourceRecord } from '../../../test/files/records.ts'
import { until } from '../../../test/processes/masthead-process.ts'
import { importer } from '../../../test/records/import-files.ts'
import { sampleRecord } from '../../../test/records/sample-records.ts'
import { startService } from '../../../test/service.ts'

/** Files that other people's programs made, compared with the values that went into those programs. */

const service = await startService()

const pathOf = (name: string): string => fileURLToPath(new URL(`../../../test/files/${name}`, import.meta.url))

/** A tenant with the publications and accounts that the files refer to; the accounts have other values than in the files. */
const newTenant = async () => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add(
    'publications',
    publications.map((one) => sampleRecord('publications', one)),
  )
  await tenant.add(
    'accounts',
    records.accounts.map(({ accountId = null }) => sampleRecord('accounts', { accountId })),
  )
  /** The records of a resource by the key that files have, as the API shows them. */
  const stored = async (resource: CorpusResource): Promise<Map<unknown, Record<string, unknown>>> => {
    const key = importKeyOf(resource)?.name ?? 'id'
    type Change = { externalId: string | null; record: Record<string, unknown> }
    const { body } = await service.call('GET', `/changes?resources=${resource}&limit=1000`, { token })
    const items: Change[] = body.items
    return new Map(
      items.map(({ externalId, record }) => [
        key === 'externalId' ? externalId : record[key],
        { ...record, externalId },
      ]),
    )
  }
  const requireStored = async (resource: CorpusResource, expected: readonly SourceRecord[]): Promise<void> => {
    const found = await stored(resource)
    const key = importKeyOf(resource)?.name ?? 'id'
    const shown = expected.map((record) => {
      const one = found.get(record[key]) ?? {}
      return Object.fromEntries(Object.keys(record).map((field) => [field, one[field]]))
    })
    assert.deepEqual(shown, expected)
  }
  return { ...importer(service, tenant), tenant, requireStored }
}

const withoutOption = corpus.filter(({ option }) => option === undefined)
const withOption = corpus.filter(({ option }) => option !== undefined)

/** Files of different resources, which one command takes at once; there are as many groups as files of the commonest one. */
const groups = (files: readonly CorpusFile[]): CorpusFile[][] => {
  const made: CorpusFile[][] = []
  for (const file of files) {
    const group = made.find((one) => one.every(({ resource }) => resource !== file.resource))
    if (group) group.push(file)
    else made.push([file])
  }
  return made
}

describe('an import reads the files of other programs as they come', { concurrency: 2 }, () => {
  for (const group of groups(withoutOption))
    test(`without an option: ${group.map(({ name }) => name).join(', ')}`, async () => {
      const { importAll, requireStored } = await newTenant()
      const { files } = await importAll(...group.map(({ name }) => pathOf(name)))
      assert.deepEqual(
        files.map(({ refused }) => refused),
        group.map(() => 0),
      )
      for (const file of group) await requireStored(file.resource, expectedOf(file))
    })

  for (const group of groups(withOption))
    test(`with the options that their messages name: ${group.map(({ name }) => name).join(', ')}`, async () => {
      const { masthead, importAll, requireStored } = await newTenant()
      for (const file of group) {
        const [name, value] = file.option ?? assert.fail(file.name)
        const refused = await masthead('import', pathOf(file.name), '--dry-run')
        assert.notEqual(refused.code, 0, file.name)
        assert.ok(`${refused.stdout}${refused.stderr}`.includes(name), `${file.name}: ${refused.stderr}`)
        const [summary] = (await importAll(pathOf(file.name), name, ...(value === undefined ? [] : [value]))).files
        assert.equal(summary?.refused, 0, file.name)
        await requireStored(file.resource, expectedOf(file))
      }
    })

  test(`without an option: ${archive.name}`, async () => {
    const { importAll, requireStored } = await newTenant()
    const { files } = await importAll(pathOf(archive.name))
    assert.deepEqual(
      files.map(({ refused }) => refused),
      Object.keys(archive.holds).map(() => 0),
    )
    for (const held of Object.values(archive.holds)) {
      const file = corpus.find(({ name }) => name === held) ?? assert.fail(held)
      await requireStored(file.resource, expectedOf(file))
    }
  })
})

/** An option of the command line, as the console sends it. */
const sentOption = ([name, value]: readonly [string, string?]) => {
  const camelCase = name.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return { [camelCase]: value ?? true }
}

describe('the console asks what a file leaves open', { concurrency: 2 }, () => {
  for (const group of groups(withOption))
    test(`in ${group.map(({ name }) => name).join(', ')}, and imports it as soon as that is decided`, async () => {
      const { tenant, requireStored } = await newTenant()
      const person = await newPerson(service, [tenant, 'admin'])
      const { management: token } = await new ConsoleBrowser(service.origin).signIn(person)
      for (const file of group) await importInConsole(file, token, requireStored)
    })
})

type Stored = Awaited<ReturnType<typeof newTenant>>['requireStored']

const importInConsole = async (file: CorpusFile, token: string, requireStored: Stored): Promise<void> => {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await manage(service.origin, method, path, { token, ...(body !== undefined && { body }) })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const { id } = await call('POST', '/import-runs', { fileName: `file${extname(file.name)}` })
  const path = `/import-runs/${id}`
  const content = (await readFile(pathOf(file.name))).toString('base64')
  await call('POST', `${path}/parts`, { number: 1, content })
  const done = async (what: string) => {
    let run = await call('POST', `${path}/${what}`)
    await until(`${what} ends`, async () => {
      run = await call('GET', path)
      return run.state !== 'running'
    })
    return run
  }
  const { inspection } = await done('inspect')
  assert.notDeepEqual(inspection.problems, [])
  await call('PATCH', path, { options: sentOption(file.option ?? assert.fail(file.name)) })
  const decided = await done('inspect')
  assert.deepEqual(
    [decided.state, decided.inspection.resource, decided.inspection.problems],
    ['inspected', file.resource, []],
  )
  const { state, created, refused } = await done('start')
  assert.deepEqual([state, created, refused], ['done', file.resource === 'accounts' ? 0 : expectedOf(file).length, 0])
  await requireStored(file.resource, expectedOf(file))
}
