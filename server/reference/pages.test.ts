import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { operations, problems, type Resource, resources, scopes } from '@masthead/contract'
import type { Command } from 'commander'
import { buildProgram } from '../src/commands/program.ts'
import { readConfig } from '../src/config.ts'
import '../test/judged-answers.ts'
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
    const schemas = Object.values<Resource>(resources).flatMap(({ record, operations }) => [
      ...[record, ...Object.values(operations).flatMap(({ body, answer }) => [body, answer])],
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

const below = async (name: string): Promise<string[]> =>
  (await readdir(join(root, name), { recursive: true }))
    .map((path) => join(name, path))
    .filter((path) => !path.includes('node_modules'))

test('every link in a document leads somewhere', async () => {
  const documents = [
    ...(await readdir(root)),
    ...(await Promise.all(['docs', 'client', 'bench'].map(below))).flat(),
  ].filter((path) => path.endsWith('.md'))
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
