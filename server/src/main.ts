#!/usr/bin/env node
import { styleText } from 'node:util'
import { Command, CommanderError } from 'commander'
import { member } from './commands/member.ts'
import { migrate } from './commands/migrate.ts'
import { openapi } from './commands/openapi.ts'
import { serve } from './commands/serve.ts'
import { tenant } from './commands/tenant.ts'
import { token } from './commands/token.ts'
import { user } from './commands/user.ts'

const program = new Command('masthead')
  .description('The customer API of a publishing business.')
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'masthead: ')) })
for (const command of [serve(), tenant(), user(), member(), token(), migrate(), openapi()]) program.addCommand(command)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) throw error
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(
    `${styleText('red', 'masthead:', { stream: process.stderr })} ${message.replaceAll(/\s*\n\s*/g, ' ')}\n`,
  )
  process.exitCode = 1
}
