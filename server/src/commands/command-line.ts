import { messageOf } from '../error-message.ts'
import { Refusal } from '../refusal.ts'
import { complain, showSteps } from './output.ts'
import { buildProgram } from './program.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early, such as `head`, is no failure.
  if (error.code === 'EPIPE') return
  complain(`the output could not be written: ${error.message}`)
  process.exitCode = 1
})
process.stderr.on('error', () => {})

try {
  const program = await buildProgram(process.argv[2])
  await program.parseAsync()
} catch (error) {
  complain(messageOf(error))
  if (error instanceof Refusal) showSteps(error.steps)
  process.exitCode = 1
}
