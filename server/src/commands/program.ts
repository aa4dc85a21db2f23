import { Command } from 'commander'
import { version } from '../version.ts'
import { complain } from './output.ts'

/** The commands in the order of the help. Each is imported when it is called, so that none delays the others. */
const commands = new Map<string, () => Promise<() => Command>>(
  Object.entries({
    status: async () => (await import('./status.ts')).status,
    serve: async () => (await import('./serve.ts')).serve,
    work: async () => (await import('./work.ts')).work,
    service: async () => (await import('./service.ts')).service,
    tenant: async () => (await import('./tenant.ts')).tenant,
    user: async () => (await import('./user.ts')).user,
    member: async () => (await import('./member.ts')).member,
    token: async () => (await import('./token.ts')).token,
    app: async () => (await import('./app.ts')).app,
    keys: async () => (await import('./keys.ts')).keys,
    import: async () => (await import('./import.ts')).importing,
    export: async () => (await import('./export.ts')).exporting,
    demo: async () => (await import('./demo.ts')).demo,
    legacy: async () => (await import('./legacy.ts')).legacy,
    webhook: async () => (await import('./webhook.ts')).webhook,
    contact: async () => (await import('./contact.ts')).contact,
    audit: async () => (await import('./audit.ts')).audit,
    doctor: async () => (await import('./doctor.ts')).doctor,
    probe: async () => (await import('./probe.ts')).probe,
    backup: async () => (await import('./backup.ts')).backup,
    restore: async () => (await import('./restore.ts')).restoring,
    shard: async () => (await import('./shard.ts')).shard,
    migrate: async () => (await import('./migrate.ts')).migrate,
    upgrade: async () => (await import('./upgrade.ts')).upgrade,
    completion: async () => (await import('./completion.ts')).completion,
    openapi: async () => (await import('./openapi.ts')).openapi,
  }),
)

/** Builds the command line: with the called command alone, or with all when there is no such command. */
export const buildProgram = async (called = ''): Promise<Command> => {
  const program = new Command('masthead')
    .description('The customer API of a publishing business.')
    .version(version)
    // An option belongs to the command it follows: `import` and `import list` both have --tenant.
    .enablePositionalOptions()
  // Completion is about all commands.
  const known = called === 'completion' ? undefined : commands.get(called)
  const loaders = known ? [known] : [...commands.values()]
  for (const command of await Promise.all(loaders.map((load) => load()))) program.addCommand(command())
  failInOneLine(program, program.name())
  return program
}

const failInOneLine = (command: Command, path: string): void => {
  command.configureOutput({
    outputError: (text) => complain(`${text.replace(/^error: /, '').replace(/\.?\n*$/, '')}; see \`${path} --help\``),
  })
  for (const below of command.commands) failInOneLine(below, `${path} ${below.name()}`)
}
