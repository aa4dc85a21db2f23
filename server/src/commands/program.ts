import { Command } from 'commander'
import { app } from './app.ts'
import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { contact } from './contact.ts'
import { demo } from './demo.ts'
import { doctor } from './doctor.ts'
import { exporting } from './export.ts'
import { importing } from './import.ts'
import { keys } from './keys.ts'
import { legacy } from './legacy.ts'
import { member } from './member.ts'
import { migrate } from './migrate.ts'
import { openapi } from './openapi.ts'
import { complain } from './output.ts'
import { probe } from './probe.ts'
import { restoring } from './restore.ts'
import { serve } from './serve.ts'
import { tenant } from './tenant.ts'
import { token } from './token.ts'
import { user } from './user.ts'
import { work } from './work.ts'

/** The command line, as a tree. */
export const buildProgram = (): Command => {
  const program = new Command('masthead')
    .description('The customer API of a publishing business.')
    // An option belongs to the command it follows: `import` and `import list` both have --tenant.
    .enablePositionalOptions()
  const identity = [tenant, user, member, token, app, keys]
  const records = [importing, exporting, demo, legacy, contact, audit]
  const upkeep = [doctor, probe, backup, restoring, migrate, openapi]
  for (const command of [serve, work, ...identity, ...records, ...upkeep]) program.addCommand(command())
  failInOneLine(program, program.name())
  return program
}

const failInOneLine = (command: Command, path: string): void => {
  command.configureOutput({
    outputError: (text) => complain(`${text.replace(/^error: /, '').replace(/\.?\n*$/, '')}; see \`${path} --help\``),
  })
  for (const below of command.commands) failInOneLine(below, `${path} ${below.name()}`)
}
