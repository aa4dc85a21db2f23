import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { Query, Statement } from '../src/database/connections/statement.ts'
import type { Database, TenantDatabase } from '../src/database/database.ts'
import { type TenantQuery, tenantQuery } from '../src/database/tenant-query.ts'

const home = fileURLToPath(new URL('../src/', import.meta.url))

/** Every statement that goes through a database, with the functions that sent it, as `file function`. */
export class RecordedStatements {
  readonly senders = new Map<string, Set<string>>()

  /** The same database. */
  through(database: Database): Database {
    return {
      ...database,
      query: this.#query(database.query),
      read: this.#query(database.read),
      readVersions: this.#query(database.readVersions),
      transaction: (work) => database.transaction((query) => work(this.#query(query))),
      forTenant: (id) => this.#tenant(database.forTenant(id)),
    }
  }

  #tenant(tenant: TenantDatabase): TenantDatabase {
    const recorded = ({ withoutTenant }: TenantQuery) => tenantQuery(tenant.tenantId, this.#query(withoutTenant))
    const door: TenantDatabase = {
      ...tenant,
      read: recorded(tenant.read),
      readSlowly: recorded(tenant.readSlowly),
      asOfNow: async () => this.#tenant(await tenant.asOfNow()),
      bodyOf: (named) => {
        this.#note(named.text)
        return tenant.bodyOf(named)
      },
      transaction: (work) => tenant.transaction((query) => work(recorded(query))),
      write: (decide) =>
        tenant.write(async (query) => {
          const last = await decide(recorded(query))
          return (query) => last(recorded(query))
        }),
      whenStored: (act) => act(door),
      inBulk: (work) =>
        tenant.inBulk((client, query) => {
          this.#noteAll(client)
          return work(client, query)
        }),
    }
    return door
  }

  #query(query: Query): Query {
    return <R>(statement: Statement) => {
      this.#note(statement.text)
      return query<R>(statement)
    }
  }

  #noteAll(client: pg.Client): void {
    const send = client.query.bind(client) as (...given: unknown[]) => unknown // whichever of its forms is called
    const query = (given: string | { text: string }, ...more: unknown[]) => {
      this.#note(typeof given === 'string' ? given : given.text)
      return send(given, ...more)
    }
    Object.assign(client, { query })
  }

  #note(text: string): void {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 30
    const { stack = '' } = new Error()
    Error.stackTraceLimit = stackTraceLimit
    const senders = this.senders.get(text) ?? new Set()
    senders.add(senderIn(stack))
    this.senders.set(text, senders)
  }
}

/** What only passes statements on. */
const isBetween =
  /^(database\/(connections\/[a-z-]+|pg-internals\/[a-z-]+|tenant-query|fair-queue|database)|authorization-server\/temporarily-unavailable)\.ts$/

/** The first function of the service in the stack, or what a function without a name stands in. */
const senderIn = (stack: string): string => {
  for (const line of stack.split('\n')) {
    const [, name = '', path = '', number] =
      /^ +at (?:async )?(?:(.+) \()?(?:file:\/\/)?(\/[^:]+):(\d+)/.exec(line) ?? []
    const file = path.slice(home.length)
    if (!path.startsWith(home) || isBetween.test(file)) continue
    const callee = name.replace(/^Object\./, '').replace(/ \[as .*\]$/, '')
    return `${file} ${/(^|\.)(<anonymous>)?$/.test(callee) ? enclosing(path, Number(number)) : callee}`
  }
  return ''
}

const enclosing = (path: string, line: number): string => {
  const before = readFileSync(path, 'utf8').split('\n').slice(0, line).reverse()
  for (const text of before) {
    const [, name] = /^(?:export )?(?:async )?(?:const|function\*?|class) (\w+)/.exec(text) ?? []
    if (name) return name
  }
  return ''
}

/** Sessions, migrations and backups; and commands that examine the database as it is, or try to break a rule. */
const hasOwnConnections = /^(database\/(?!idempotency|versions|schema\/tenant-tables)|doctor\/|probe\/queries)/

/** The statements in the sources of which nothing was recorded, as `file: beginning`, by their text up to its first `${`. */
export const unmetStatements = ({ senders }: RecordedStatements): string[] => {
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
  const met = [...senders.keys()].map(oneLine)
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ts$/.test(file) && !/\.(test|d)\.ts$/.test(file) && !hasOwnConnections.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(home + file, 'utf8').matchAll(
          /([`'])\s*((?:select|insert into|update|delete from|with (?:recursive )?\w+(?: \(\w+\))? as)\s(?:(?!\1|\$\{)[\s\S])+)/g,
        ),
      ]
        .map(([, , text = '']) => oneLine(text))
        .filter((text) => !met.some((one) => one.includes(text)))
        .map((text) => `${file}: ${text.slice(0, 60)}`),
    )
    .sort()
}

/** All of them as one file, in the order of their senders. */
export const statementsText = ({ senders }: RecordedStatements): string => {
  const statements = new Map<string, Set<string>>()
  for (const [text, from] of senders) {
    // COPY takes no parameters.
    const shown = withoutIndentation(text).replaceAll(/(?<=tenant_id = ')[\da-f-]{36}(?=')/g, '…')
    statements.set(shown, new Set([...(statements.get(shown) ?? []), ...from]))
  }
  const parts = [...statements].map(([text, from]) => `-- ${[...from].sort().join('\n-- ')}\n${text};\n`)
  return [
    '-- Generated by `npm run generate` from what the service sends in a tour through all of its work: never change this file.\n' +
      '-- Above each statement stands who sends it. `$1` is the tenant wherever a table of tenants is touched.\n',
    ...parts.sort(),
  ].join('\n')
}

const withoutIndentation = (text: string): string => {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const depths = lines.slice(text.startsWith('\n') ? 0 : 1).map((line) => line.search(/\S/))
  const least = Math.min(...depths, 40)
  return lines
    .map((line, index) => (index === 0 ? line.trim() : line.slice(Math.min(least, line.search(/\S/)))))
    .join('\n')
}
