import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { glob, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changes, exportJobs, operations, problems, type Resource, resources, scopes } from '@masthead/contract'
import type { Command } from 'commander'
import { buildProgram } from '../src/commands/program.ts'
import { readConfig } from '../src/config.ts'
import '../test/requests/judged-responses.ts'
import { anchorOf } from './markdown.ts'
import { folder, referencePages } from './pages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = await referencePages()
const headingsOf = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)

describe('the reference', () => {
  test('equals a fresh generation', async () => {
    assert.deepEqual((await readdir(folder)).sort(), Object.keys(pages).sort())
    for (const [name, fresh] of Object.entries(pages)) {
      const committed = await readFile(new URL(name, folder), 'utf8')
      assert.equal(committed, fresh, `run \`npm run generate\`: docs/reference/${name} is not what the program says`)
    }
  })

  test('has a place for every operation, schema, scope, problem and command', async () => {
    const commands = (command: Command, path: string[]): string[] =>
      command.commands.flatMap((one) => [[...path, one.name()].join(' '), ...commands(one, [...path, one.name()])])
    const schemas = Object.values<Resource>({ ...resources, changes, exportJobs }).flatMap(({ record, operations }) => [
      record,
      ...Object.values(operations).flatMap(({ body, response, download }) => (download ? [] : [body, response])),
    ])
    const wanted = {
      'operations.md': operations.map(({ name }) => name),
      'fields.md': schemas.flatMap((schema) => (schema ? String(Object(schema).title) : [])),
      'scopes.md': Object.keys(scopes),
      'problems.md': Object.keys(problems),
      'commands.md': commands(await buildProgram(), ['masthead']),
    }
    for (const [name, headings] of Object.entries(wanted)) {
      const there = headingsOf(pages[name] ?? '')
      assert.deepEqual(
        headings.filter((heading) => !there.includes(heading)),
        [],
        name,
      )
    }
  })
})

describe('the page of the configuration', () => {
  const rows = [...(pages['configuration.md'] ?? '').matchAll(/^\| <a id="([A-Z_]+)"><\/a>.* \| (.*) \|$/gm)]
  const documented = new Map(rows.map(([, name = '', usual = '']) => [name, usual]))
  /** With it everything is read: some variables only matter where others are set. */
  const everything = {
    METRICS_PORT: '9464',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
    AUTH_ISSUER: 'https://issuer.example.com',
    SMTP_URL: 'smtp://localhost',
  }

  test('has every variable that is read, and no other', () => {
    const read = new Set<string>()
    readConfig(
      new Proxy<NodeJS.ProcessEnv>(everything, {
        get: (environment, name) => {
          read.add(String(name))
          return environment[String(name)]
        },
      }),
    )
    assert.deepEqual([...documented.keys()].sort(), [...read].sort())
  })

  test('tells the defaults that are used', () => {
    const told = [...documented].flatMap(([name, usual]) => {
      const [, value] = /^`([^`A-Z]+)`(?!.*terminal)/.exec(usual) ?? []
      return value === undefined ? [] : [{ name, value }]
    })
    assert.ok(told.length > 15, 'there is nothing to look at')
    for (const { name, value } of told) {
      assert.deepEqual(readConfig({ ...everything, [name]: value }), readConfig(everything), name)
    }
  })
})

/** All files of the repository that are ours, by their paths from the root. */
const files = await Array.fromAsync(
  glob('**/*.{md,ts,tsx,js,sql,svg}', {
    cwd: root,
    exclude: (path) => /^(node_modules|dist|\..+)$/.test(basename(path)),
  }),
)
const documents = files.filter((path) => path.endsWith('.md'))

test('every link in a document leads somewhere', async () => {
  assert.ok(documents.includes('README.md') && documents.includes('docs/reference/operations.md'))
  const anchors = new Map<string, string[]>()
  for (const path of documents) {
    const text = await readFile(join(root, path), 'utf8')
    anchors.set(path, [
      ...headingsOf(text).map(anchorOf),
      ...[...text.matchAll(/ id="(\w+)"/g)].map(([, id = '']) => id),
    ])
  }
  for (const path of documents) {
    const text = await readFile(join(root, path), 'utf8')
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href|srcset)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
    for (const target of targets.filter((one) => !/^(https?|mailto):/.test(one))) {
      const [file = '', anchor] = target.split('#')
      const found = file === '' ? path : join(dirname(path), file)
      assert.ok(existsSync(join(root, found)), `${path} links to ${target}, which is not there`)
      if (anchor !== undefined && found.endsWith('.md'))
        assert.ok(anchors.get(found)?.includes(anchor), `${path} links to ${target}, and there is no such heading`)
    }
  }
})

test('no document and no comment names a page or a file that is not there', async () => {
  const isThere = (name: string) => files.some((path) => path === name || path.endsWith(`/${name}`))
  const named = {
    // Whole paths and bare names of files; what stands in a block of code is an example.
    md: (text: string) =>
      text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([\w@./-]+\.(?:ts|tsx|js|sql|md|svg))`/g),
    source: (text: string) => text.matchAll(/(?<![\w/.-])(docs\/[\w./-]+\.md)/g),
  }
  const sources = files.filter((path) => /\.(ts|tsx|js|sql)$/.test(path))
  const looked = [
    ...documents.filter((path) => path !== 'CHANGELOG.md').map((path) => ({ path, namesIn: named.md })),
    ...sources.map((path) => ({ path, namesIn: named.source })),
  ]
  const missing: string[] = []
  for (const { path, namesIn } of looked) {
    const names = [...namesIn(await readFile(join(root, path), 'utf8'))].map(([, name = '']) => name)
    missing.push(...names.filter((name) => !isThere(name)).map((name) => `${path}: ${name}`))
  }
  assert.deepEqual(missing, [])
})

test('every decision has a number, a status and a date, and is in the list', async () => {
  const list = await readFile(join(root, 'docs/decisions/README.md'), 'utf8')
  const decisions = documents.filter((path) => /^docs\/decisions\/\d/.test(path))
  assert.ok(decisions.length > 0)
  for (const path of decisions) {
    const name = basename(path)
    const text = await readFile(join(root, path), 'utf8')
    assert.match(text, new RegExp(`^# ${name.slice(0, 4)}: `), path)
    assert.match(
      text,
      /^\*\*Status:\*\* (accepted|superseded by \[\d{4}\]\(.+\)) · \*\*Date:\*\* \d{4}-\d\d-\d\d/m,
      path,
    )
    assert.ok(list.includes(`(${name})`), `${path} is not in docs/decisions/README.md`)
  }
})
