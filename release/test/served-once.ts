import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { until } from '../../server/test/processes/masthead-process.ts'
import { freeAddress } from '../../server/test/service.ts'

type Launch = { cwd: string; env: Record<string, string>; uid?: number; gid?: number }

/** npx installs before it serves. */
const installMilliseconds = 300_000

/** Serves the demo, makes the call that it prints, looks at a page and ends it. Fails with what it said where it does not serve. */
export const serveOnce = async (program: string, words: string[], { env, ...options }: Launch) => {
  const address = await freeAddress('localhost')
  const given = [...words, 'serve', '--demo']
  const service = spawn(program, given, { ...options, env: { ...env, PORT: new URL(address).port } })
  const ended = Promise.all([once(service, 'close'), text(service.stderr)])
  let said = ''
  service.stdout.setEncoding('utf8').on('data', (chunk) => (said += chunk))
  await Promise.race([until('it serves', () => said.includes('Press Ctrl-C'), installMilliseconds), ended])
  const [, authorization = '', url] = /curl -H "Authorization: (.+)" "(.+)"/.exec(said) ?? []
  if (!url) throw new Error(`it does not serve: ${said}${(await ended)[1]}`)
  const response = await fetch(url, { headers: { authorization } })
  const { items }: { items: unknown[] } = JSON.parse(await response.text())
  const page = await fetch(`${address}/docs`)
  await page.text()
  service.kill('SIGTERM')
  const [[code], complaints] = await ended
  return { statuses: [response.status, page.status], items: items.length, code: Number(code), complaints }
}
