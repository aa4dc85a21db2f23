import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { importPart, managementApi } from '@masthead/contract'
import { newBrowser } from './delegated-tokens.ts'
import { newQuietCaller } from './quiet-caller.ts'
import { run, type Served, serve } from './served.ts'
import { report } from './timing.ts'

/**
 * What the files of one tenant cost another one: `npm run bench:files [rounds]`. The quiet tenant reads as in fairness.ts. The
 * other has files checked through the management API, one right after the other: some that are made to cost much to read, one of
 * refused rows, and one of good ones. Silence and files take turns.
 */
const dataDirectory = resolve('.masthead/bench-fairness')
const rounds = Number(process.argv[2] ?? 5)
const phaseMilliseconds = 8_000

type Sent = { fileName: string; content: Buffer }

const repeated = (text: string, count: number): Buffer => gzipSync(Buffer.alloc(text.length * count, text))
const header = gzipSync('accountId,company\n')
const rowsOf = (count: number, row: (index: number) => string): Buffer =>
  gzipSync(Array.from({ length: count }, (_, index) => `${row(index)}\n`).join(''))

const hostile: Sent[] = [
  { fileName: 'deep.ndjson.gz', content: repeated('[', 7_000_000) },
  { fileName: 'deeper.ndjson.gz', content: repeated(`${'['.repeat(1_000_000)}\n`, 86) },
  { fileName: 'commas.csv.gz', content: Buffer.concat([header, repeated(',', 46_000_000)]) },
  { fileName: 'blank.csv.gz', content: Buffer.concat([header, ...Array(230).fill(repeated('\n', 10_000_000))]) },
  { fileName: 'quotes.csv.gz', content: Buffer.concat([header, repeated('""', 50_000_000)]) },
]
const refused: Sent[] = [{ fileName: 'tiny.csv.gz', content: Buffer.concat([header, repeated('a\n', 200_000)]) }]
const large: Sent[] = [
  {
    fileName: 'large.csv.gz',
    content: Buffer.concat([header, rowsOf(100_000, (index) => `F-${index},Company number ${index}`)]),
  },
]
const kinds = { 'hostile files': hostile, 'refused rows': refused, 'large files': large }

const main = async (): Promise<void> => {
  run(dataDirectory, 'node', ['server/test/records/seed-contacts.ts', 'quiet=10000'])
  const served = await serve(dataDirectory)
  try {
    const quiet = await newQuietCaller(served)
    const call = await managementOf(served)
    const runs: [kind: string, paths: string[]][] = []
    for (const [kind, files] of Object.entries(kinds)) runs.push([kind, await sendAll(call, files)])
    const times = new Map<string, number[]>(['silence', ...Object.keys(kinds)].map((name) => [name, []]))
    const checked: Record<string, number> = {}
    const during = async (kind: string, paths: readonly string[]) => {
      let isOver = false
      const stopping = AbortSignal.timeout(phaseMilliseconds)
      const checking = checkAll(call, paths, stopping, (ended) => {
        checked[ended] = (checked[ended] ?? 0) + 1
      }).finally(() => {
        isOver = true
      })
      while (!isOver) times.get(kind)?.push(...(await quiet(500)))
      await checking
    }
    await quiet(2_000)
    for (let round = 0; round < rounds; round++) {
      times.get('silence')?.push(...(await quiet(phaseMilliseconds)))
      for (const [kind, paths] of runs) await during(kind, paths)
    }
    for (const [outcome, count] of Object.entries(checked)) process.stdout.write(`${count} × ${outcome}\n`)
    report(
      times,
      Object.keys(kinds).flatMap((name) => [
        { name: `p50: ${name} ÷ silence`, of: name, by: 'silence' },
        { name: `p99: ${name} ÷ silence`, of: name, by: 'silence', share: 0.99, most: 2 },
      ]),
    )
  } finally {
    await served.stop()
  }
}

type Call = (method: string, path: string, body?: unknown) => Promise<Run>
type Run = { id: string; fileName: string; state: string; problem: string | null; refused: number }

const sendAll = async (call: Call, files: readonly Sent[]): Promise<string[]> => {
  const paths: string[] = []
  for (const { fileName, content } of files) {
    const { id } = await call('POST', '/import-runs', { fileName, resource: 'accounts' })
    for (let number = 1, start = 0; start < content.length; number++, start += importPart.bytes) {
      const part = content.subarray(start, start + importPart.bytes).toString('base64')
      await call('POST', `/import-runs/${id}/parts`, { number, content: part })
    }
    paths.push(`/import-runs/${id}`)
  }
  return paths
}

/** By turns, until it is told to stop, and then to the end of the file. */
const checkAll = async (
  call: Call,
  paths: readonly string[],
  signal: AbortSignal,
  onEnd: (outcome: string) => void,
): Promise<void> => {
  for (let number = 0; !signal.aborted; number++) {
    const path = paths[number % paths.length] ?? ''
    await call('POST', `${path}/check`)
    for (let run = await call('GET', path); ; run = await call('GET', path)) {
      const { state, problem, refused, fileName } = run
      if (state !== 'running') {
        onEnd(problem ?? `${fileName}: ${state}, ${refused} rows refused`)
        break
      }
      await delay(250)
    }
  }
}

/** As the console does for an admin. */
const managementOf = async ({ origin }: Served): Promise<Call> => {
  const person = { email: `admin-${Date.now()}@example.com`, password: 'correct horse battery' }
  const tenant = `files-${Date.now()}`
  run(dataDirectory, 'masthead', ['tenant', 'create', tenant, '--name', 'Files'])
  const words = ['--tenant', tenant, '--email', person.email, '--name', 'Ada', '--role', 'admin', '--password-stdin']
  run(dataDirectory, 'masthead', ['user', 'create', ...words], person.password)
  const [callback, clientId] = [`${origin}/signed-in`, 'masthead-console']
  const verifier = randomBytes(32).toString('base64url')
  const resource = origin + managementApi.basePath
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    resource,
    state: 'bench',
    scope: `openid ${managementApi.scopes.map((name) => managementApi.scopePrefix + name).join(' ')}`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const browser = newBrowser(origin)
  const signIn = await browser(`/oauth2/authorize?${asked}`)
  let { location } = await browser(`${signIn.location}/sign-in`, person)
  while (!location.startsWith(callback)) ({ location } = await browser(location))
  const response = await fetch(`${origin}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: callback,
      code_verifier: verifier,
      code: new URL(location).searchParams.get('code') ?? '',
      resource,
    }),
  })
  const { access_token } = (await response.json()) as { access_token: string } // RFC 6749 §5.1
  return async (method, path, body) => {
    const response = await fetch(resource + path, {
      method,
      headers: {
        authorization: `Bearer ${access_token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (await response.json()) as Run // as the contract has it
  }
}

await main()
