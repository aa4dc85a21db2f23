import { codeOf, messageOf } from '../error-message.ts'
import { Refusal } from '../refusal.ts'

/** What a check found, and what to do about it. Neither may hold a secret. */
export type Finding = Verdict & { check: string }
export type Verdict = { status: 'ok' | 'warning' | 'failure'; found: string; todo: string | null }
export type Check = () => Promise<Verdict> | Verdict

export const ok = (found: string): Verdict => ({ status: 'ok', found, todo: null })
export const warning = (found: string, todo: string): Verdict => ({ status: 'warning', found, todo })
export const failure = (found: string, todo: string): Verdict => ({ status: 'failure', found, todo })

/** Runs one check after another. A check that throws is a finding too. */
export const findings = (checks: Record<string, Check>): Promise<Finding[]> =>
  Array.fromAsync(Object.entries(checks), async ([check, run]) => ({
    check,
    ...(await (async () => run())().catch(verdictOf)),
  }))

const verdictOf = (error: unknown): Verdict => {
  const code = codeOf(error)
  if (missing.has(code))
    return warning(`not examined: ${messageOf(error)}`, 'bring the schema up to date: masthead migrate')
  if (code === '42501') return warning(`not examined: ${messageOf(error)}`, 'give the role what it lacks: see `role`')
  if (error instanceof Refusal && error.steps.length > 0) return failure(error.message, error.steps.join('\n'))
  return failure(messageOf(error), 'see to what it says, and run `masthead doctor` again')
}

/** Undefined tables, columns, functions and schemas: the database has not been migrated. */
const missing = new Set(['42P01', '42703', '42883', '3F000'])
