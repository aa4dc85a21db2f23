import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listedNames, managementApi, type Resource, resources } from '@masthead/contract'
import { ConsoleBrowser } from '../browsers/console-session.ts'
import { runInSession } from '../processes/command-session.ts'
import type { Environment } from '../processes/masthead-process.ts'
import { callAt, linksOf } from '../service.ts'
import { type Credentials, person, slugs } from './released-records.ts'

/** Who asks: a token of the release, or its administrator in the console. */
type Caller = keyof Credentials['tokens'] | 'console'

export type RecordedResponses = {
  /** What commands print or write to files, by their words. */
  commands: Record<string, string>
  /** Status and body by caller and path. The paths of pages contain the cursors of the release. */
  requests: Record<string, [status: number, body: string]>
}

/** Named after the folder that a command writes to. */
const place = '<folder>'

/** Commands that only read; those that print JSON, and those that write files. */
const commands: readonly string[] = [
  'tenant list --json',
  'app list --json',
  ...slugs.flatMap((slug) => [
    `token list --tenant ${slug} --json`,
    `user list --tenant ${slug} --json`,
    `import list --tenant ${slug} --json`,
    `webhook list --tenant ${slug} --json`,
    `legacy status --tenant ${slug} --json`,
    `audit verify --tenant ${slug} --json`,
    `audit export --tenant ${slug} --to ${place}/audit-${slug}.ndjson`,
    `export --tenant ${slug} --to ${place}/${slug} --format ndjson`,
  ]),
  'audit verify --installation --json',
  `audit export --installation --to ${place}/audit.ndjson`,
]

/** Before anybody signs in, which the audit log tells. */
export const recordCommands = async (environment: Environment): Promise<RecordedResponses['commands']> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-release-'))
  const recorded: RecordedResponses['commands'] = {}
  try {
    for (const words of commands) {
      const { code, stdout, stderr } = await runInSession(words.replace(place, folder).split(' '), environment)
      if (code !== 0) throw new Error(`${words}: ${stderr}`)
      if (words.endsWith('--json')) recorded[words] = stdout
    }
    for (const name of await readdir(folder, { recursive: true }))
      if (/\.\w+$/.test(name)) recorded[name] = await readFile(join(folder, name), 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return recorded
}

/** Asks one after another, as one of the callers. The request id is in every problem. */
export const askAs = async (origin: string, { tokens }: Pick<Credentials, 'tokens'>) => {
  const { management } = await new ConsoleBrowser(origin).signIn(person)
  return async (caller: Caller, path: string) => {
    const token = caller === 'console' ? management : tokens[caller]
    const address = caller === 'console' ? `//${managementApi.basePath.slice(1)}${path}` : path
    return callAt(origin, 'GET', address, { token, headers: { 'x-request-id': 'release' } })
  }
}

/** Asks for everything that can be read: every list page by page, every record, changes, histories, and what the console shows. */
export const recordRequests = async (
  origin: string,
  credentials: Credentials,
): Promise<RecordedResponses['requests']> => {
  const ask = await askAs(origin, credentials)
  const requests: RecordedResponses['requests'] = {}
  const record = async (caller: Caller, path: string) => {
    const response = await ask(caller, path)
    requests[`${caller} ${path}`] = [response.status, response.text]
    return response
  }
  // Of what the console shows, only the last use of a token changes by a request.
  for (const path of consolePaths) {
    const { body } = await record('console', path)
    for (const { id } of body.items ?? [])
      for (const below of pathsBelow(path, id)) {
        const { body } = await record('console', below)
        for (const delivery of body.items ?? []) await record('console', `${below}/${delivery.id}`)
      }
  }
  for (const path of [credentials.runPath, `${credentials.runPath}/rejected-rows`]) await record('console', path)
  for (const name of listedNames) {
    const { listing, canonicalIdentifier = 'id' }: Resource = resources[name]
    const all = Object.keys({ ...listing?.leftOutUnless }).map((parameter) => `${parameter}=true`)
    const [first] = (await record('service', `/${name}`)).body.items
    for (let next: string | undefined = `/${name}?${['pageSize=2', ...all].join('&')}`; next; ) {
      const { body, headers } = await record('service', next)
      for (const item of body.items) {
        await record('service', `/${name}/${item[canonicalIdentifier]}`)
        await record('console', `/history/${name}/${item.id}`)
      }
      next = linksOf(headers).next
    }
    if (listing && listing.search.length > 0) await record('service', `/${name}?search=sam`)
    await record('service', `/${name}?sort=-createdAt&pageSize=2&ids=${first.id}`)
  }
  for (const path of [
    '/contacts?sort=name',
    '/contacts?search=muller',
    '/subscriptions?status=active',
    '/invoices?sort=-total',
  ])
    await record('service', path)
  let cursor = ''
  for (let pages = 0; pages < 3; pages++) {
    const { body } = await record('service', `/changes?limit=5${cursor && `&after=${cursor}`}`)
    cursor = encodeURIComponent(body.cursor)
  }
  const { body: exports } = await record('service', '/exports')
  for (const { id, files } of exports.items) {
    await record('service', `/exports/${id}`)
    for (const { name } of files) await record('service', `/exports/${id}/files/${name}`)
  }
  for (const caller of ['personal', 'former', 'revoked', 'other'] as const) await record(caller, '/contacts?pageSize=3')
  await record('personal', '/accounts')
  return requests
}

const consolePaths = [
  '/me',
  '/me/credentials',
  '/tenant',
  '/tokens',
  '/consents',
  '/members',
  '/invitations',
  '/service-tokens',
  '/applications',
  '/legacy-system',
  '/webhook-endpoints',
  '/imports',
  '/audit-entries?resource=contacts',
  '/audit-entries?resource=accounts',
]

const pathsBelow = (path: string, id: string): string[] =>
  path === '/webhook-endpoints' ? [`${path}/${id}`, `${path}/${id}/deliveries`] : []
