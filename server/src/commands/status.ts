import { Command } from 'commander'
import { programName } from '../config.ts'
import { refusalOf } from '../database/schema/schema-state.ts'
import type { State } from '../doctor/state.ts'
import { printable } from '../foreign-text.ts'
import { isService } from '../systemd/service-settings.ts'
import { action } from './action.ts'
import { count, faint, showLines, strong } from './output.ts'

type NextStep = { command: string; does: string }

export const status = (): Command =>
  action(
    new Command('status').description(
      'say what state Masthead is in and what to do next, as `masthead` alone does; starts nothing',
    ),
    async () => {
      // Only this command needs it.
      const { findState } = await import('../doctor/state.ts')
      const state = await findState()
      return { ...state, next: nextSteps(state) }
    },
    (state) => {
      const { version, schema, tenants, next } = state
      showLines(`${strong(`Masthead ${version}`)}, the customer API of a publishing business`, '')
      showLines(`  Service    ${printable(serviceWords(state))}`, `  Database   ${printable(databaseWords(state))}`)
      if (schema) showLines(`  Schema     ${schemaWords(schema)}`)
      if (tenants) showLines(`  Tenants    ${tenants.count === 0 ? 'none yet' : tenants.count}`)
      const width = Math.max(...next.map(({ command }) => command.length))
      const lines = next.map(({ command, does }) => `  ${strong(command.padEnd(width))}   ${faint(does)}`)
      showLines('', 'Next:', ...lines, '', faint(`${programName()} --help lists all commands.`))
    },
  )

const serviceWords = ({ service: { url, state } }: State): string =>
  ({
    ready: `serves at ${url}`,
    'not ready': `runs at ${url}, but is not ready`,
    away: `not reachable at ${url}`,
  })[state]

const databaseWords = (state: State): string => {
  const { kind, place, trouble } = state.database
  const name = kind === 'embedded' ? `embedded, in ${place}` : `${place}, by DATABASE_URL`
  if (isElsewhere(state)) return `${name}: not the one that is served`
  if (trouble !== null) return `${name}: ${trouble}`
  return name + { running: '', stopped: ', stopped', none: ', not made yet', away: '' }[state.database.state]
}

const schemaWords = (schema: NonNullable<State['schema']>): string => {
  const { standing, version, known, missing } = schema
  const refusal = refusalOf(schema)
  if (refusal) return `${refusal.reason}: ${refusal.remedy}`
  if (version === 0) return 'none yet: the first start makes it'
  if (standing === 'ahead') return `version ${version}, of a newer Masthead, which admits this one (${known})`
  if (standing === 'current') return `version ${version}, up to date`
  return `version ${version}, ${count(missing.length, 'migration')} behind: the next start applies what is missing`
}

/** The embedded PostgreSQL runs while somebody serves, so that service has another database. */
const isElsewhere = ({ service, database }: State): boolean =>
  service.state === 'ready' && (database.state === 'none' || database.state === 'stopped')

/** The three commands that one wants next. */
const nextSteps = (state: State): NextStep[] => {
  const { service, database, schema, tenants } = state
  const masthead = programName()
  const step = (command: string, does: string): NextStep => ({ command: `${masthead} ${command}`, does })
  const isManaged = isService()
  const doctor = step('doctor', 'examine configuration, machine and database')
  const serve = isManaged
    ? { command: 'sudo systemctl restart masthead', does: 'start the service' }
    : step('serve', 'serve')
  const log = { command: 'journalctl --unit masthead', does: 'the log of the service' }
  const slug = tenants?.first ?? 'acme'

  if (isElsewhere(state))
    return [
      {
        command: programName(isManaged, ['MASTHEAD_DATA_DIR=<folder>']),
        does: 'look at the embedded database that is served',
      },
      { command: programName(isManaged, ['DATABASE_URL=<address>']), does: 'look at the one on another server' },
      doctor,
    ]
  if (database.trouble !== null) return [doctor, serve, isManaged ? log : step('--help', 'all commands')]
  if (database.state === 'none' && isManaged) return [serve, log, doctor]
  if (database.state === 'none')
    return [
      step('serve --demo', 'try it, with demo data'),
      step('serve', 'serve for real; it says how to make the first tenant'),
      step('service install', 'run it as a systemd service'),
    ]
  if (schema && refusalOf(schema))
    return [step('upgrade check', 'tell what stands in the way'), doctor, step('--help', 'all commands')]
  if (schema?.standing === 'behind')
    return [step('upgrade check', 'tell what the next start migrates, and what to back up'), serve, doctor]
  const third =
    database.kind === 'embedded'
      ? step('backup <file>', 'copy the database into one file')
      : step('tenant list', 'show the tenants')
  if (service.state !== 'ready') return [serve, doctor, isManaged ? log : third]
  const token = step(
    `token create --tenant ${slug} --service <name> --scopes contacts:read`,
    'let a program call the API',
  )
  const importing = step(`import <files> --tenant ${slug}`, 'bring in records from CSV or Excel files')
  if (tenants?.count === 0)
    return [
      step('tenant create acme --name "Acme Press"', 'make the first tenant'),
      step('user invite --tenant acme --email <address> --role admin', 'make a link by which its admin signs in'),
      importing,
    ]
  return [importing, token, doctor]
}
