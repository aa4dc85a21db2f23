import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { columns, type Leak, type Report } from '../probe/report.ts'
import { Refusal } from '../refusal.ts'
import { faint, showJson, showLines, showTable, strong } from './output.ts'
import { startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'
import { withDatabase } from './with-database.ts'
import { installationSecret } from './work.ts'

export const probe = (): Command =>
  new Command('probe')
    .description('make two tenants, have each reach for what is the other’s in every way, and report what leaks')
    .option('--url <address>', 'the running service (default: BASE_URL, else http://localhost:PORT)')
    .option('--json', 'answer one JSON document')
    .action(async (options: { url?: string; json?: true }) => {
      const report = await run(options.url)
      if (options.json) showJson(summary(report))
      else show(report)
      if (!report.isClean) process.exitCode = 1
    })

const run = async (given: string | undefined): Promise<Report> => {
  const config = readConfig()
  const url = given ?? config.baseUrl ?? `http://localhost:${config.port}`
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new Refusal(`--url must be an address like https://api.example.com, not "${url}"`)
  const progress = startProgress()
  const signal = stopSignal()
  try {
    // Loaded here, so that the other commands start in less time.
    const { probe: probeService } = await import('../probe/probe.ts')
    return await withDatabase((database) =>
      probeService(database, {
        ...{ url: url.replace(/\/+$/, ''), signal },
        secret: config.outsideIssuer ? null : () => installationSecret(config),
        onProgress: (done, of, requests) =>
          progress.show({ what: 'probing', done, of, rows: requests, unit: 'requests' }),
      }),
    )
  } catch (error) {
    if (!signal.aborted) throw error
    throw new Refusal('interrupted; the canaries are removed', { cause: error })
  } finally {
    progress.end()
  }
}

const summary = ({ url, isClean, requests, leaks, notProbed, notes, operations, tables }: Report) => ({
  ...{ url, isClean, requests, leaks, notProbed, notes, operations, tables },
})

const mostShown = 20

const show = ({ operations, tables, requests, leaks, notProbed, notes, isClean }: Report): void => {
  showTable(
    operations.map(({ operation, byToken, leaks: found }) => ({ operation, ...byToken, leaks: found })),
    ['operation', ...columns, 'leaks'],
    'No operation was probed.',
  )
  showLines('', `${requests} requests, ${tables.length} tables: ${tables.join(' ')}`)
  for (const note of notes) showLines(faint(note))
  for (const line of notProbed) showLines(`Not probed: ${line}`)
  if (leaks.length > 0) {
    showLines('')
    showTable(leaks.slice(0, mostShown).map(named), ['where', 'token', 'seen', 'times', 'requestId'], '')
    if (leaks.length > mostShown) showLines(faint(`… and ${leaks.length - mostShown} more`))
  }
  showLines('', strong(isClean ? 'Nothing leaks.' : leaks.length > 0 ? 'It leaks.' : 'Not everything was probed.'))
}

const named = ({ operation, table, ...leak }: Leak) => ({ ...leak, where: operation ?? `table ${table}` })
