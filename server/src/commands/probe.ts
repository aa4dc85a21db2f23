import { Command } from 'commander'
import { baseUrlOf, readConfig } from '../config.ts'
import { installationSecret } from '../identity/tokens/installation-secret.ts'
import { columns, type ProbeReport } from '../probe/report.ts'
import { Refusal } from '../refusal.ts'
import { action } from './action.ts'
import { faint, showLines, showTable, strong } from './output.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

export const probe = (): Command =>
  action(
    new Command('probe')
      .description('create two tenants, let each try to reach the data of the other in every way, and report leaks')
      .option('--url <address>', 'the running service (default: BASE_URL, else http://localhost:PORT)'),
    async (options: { url?: string }) => {
      const report = await run(options.url)
      if (!report.isClean) process.exitCode = 1
      return report
    },
    show,
  )

const run = async (given: string | undefined): Promise<ProbeReport> => {
  const config = readConfig()
  const url = given ?? baseUrlOf(config)
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new Refusal(`--url must be an address like https://api.example.com, not "${url}"`)
  // Only this command needs the probe and what it imports.
  const { probe: probeService } = await import('../probe/probe.ts')
  return withProgress(
    (progress, signal) =>
      withDatabase((database) =>
        probeService(database, {
          url: url.replace(/\/+$/, ''),
          signal,
          secret: config.outsideIssuer ? null : () => installationSecret(config),
          onProgress: (done, of, rows) => progress.show({ what: 'probing', done, of, rows, unit: 'requests' }),
        }),
      ),
    { stopped: 'interrupted; the canaries are removed' },
  )
}

const mostShown = 20

const show = ({ operations, tables, requests, leaks, notProbed, notes, isClean }: ProbeReport): void => {
  showTable(
    operations.map(({ byToken, ...operation }) => ({ ...operation, ...byToken })),
    ['operation', ...columns, 'leaks'],
    'No operation was probed.',
  )
  showLines('', `${requests} requests, ${tables.length} tables: ${tables.join(' ')}`)
  for (const note of notes) showLines(faint(note))
  for (const line of notProbed) showLines(`Not probed: ${line}`)
  if (leaks.length > 0) {
    showLines('')
    const rows = leaks.slice(0, mostShown).map((leak) => ({ ...leak, where: leak.operation ?? `table ${leak.table}` }))
    showTable(rows, ['where', 'token', 'seen', 'times', 'requestId'])
    if (leaks.length > mostShown) showLines(faint(`… and ${leaks.length - mostShown} more`))
  }
  showLines('', strong(isClean ? 'Nothing leaks.' : leaks.length > 0 ? 'It leaks.' : 'Not everything was probed.'))
}
