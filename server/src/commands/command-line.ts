import { codeOf, messageOf } from '../error-message.ts'
import { Refusal } from '../refusal.ts'
import { complain, showSteps } from './output.ts'
import { buildProgram } from './program.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early, such as `head`, is no failure.
  if (error.code === 'EPIPE') return
  complain(`the output could not be written: ${error.message}; choose a place that has room and can be written to`)
  process.exitCode = 1
})
process.stderr.on('error', () => {})

/** Only errors of the system and of the database have a code. Nobody has foreseen them here, so they name no remedy. */
const remedyForUnexpected = (error: unknown): string => codeOf(error) && '; `masthead doctor` looks for the cause'

try {
  const [, , ...words] = process.argv
  // Without a command it says what state it is in.
  const given = words[0] === undefined || words[0] === '--json' ? ['status', ...words] : words
  const program = await buildProgram(given[0])
  await program.parseAsync(given, { from: 'user' })
} catch (error) {
  complain(messageOf(error) + remedyForUnexpected(error))
  if (error instanceof Refusal) showSteps(error.steps)
  process.exitCode = 1
}
