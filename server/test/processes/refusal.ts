import assert from 'node:assert/strict'
import type { Outcome } from './masthead-process.ts'

/** The command failed and printed nothing but one line, which says what is wrong and what to do. */
export const assertRefusal = ({ code, stdout, stderr }: Outcome, complaint: RegExp, message?: string): void => {
  assert.deepEqual([code, stdout], [1, ''], message)
  assert.match(stderr, /^masthead: [^\n]+\n$/, message)
  assert.match(stderr, complaint, message)
  assert.ok(saysWhatToDo(stderr), `this does not end with what to do: ${stderr}`)
}

const verbs = [
  'add',
  'check',
  'choose',
  'create',
  'give',
  'install',
  'leave',
  'make',
  'name',
  'pipe',
  'restore',
  'run',
  'say',
  'see',
  'set',
  'sign',
  'use',
  'write',
]
const imperative = new RegExp(`^(?:${verbs.join('|')})\\b`)

/**
 * A line tells somebody to do something as a whole, or in its last clause, after what is wrong. There a command in backquotes
 * counts too, and what a value must be, and the name that was probably meant.
 */
const saysWhatToDo = (line: string): boolean => {
  const text = line.trim().replace(/^masthead: /, '')
  // A sign in quotes or in a command ends no clause.
  const plain = text.replaceAll(/"[^"]*"/g, '""').replaceAll(/`[^`]+`/g, '`command`')
  const last = plain.split(/[:;.)] /).at(-1) ?? ''
  return imperative.test(text) || imperative.test(last) || /`|\bmust (?:be|have|hold) |^Did you mean/.test(last)
}
