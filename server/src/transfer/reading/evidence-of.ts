import type { Field } from '@masthead/contract'
import { BooleanEvidence } from './boolean-evidence.ts'
import type { Evidence } from './column-format.ts'
import { DayEvidence } from './day-evidence.ts'
import { NumberEvidence } from './number-evidence.ts'

/** Null for texts and identifiers, which are written in one way. */
export const evidenceOf = (field: Field, heading: string): Evidence | null => {
  if (field.reference !== null) return null
  if (field.kind === 'date' || field.kind === 'timestamp') return new DayEvidence(field, heading)
  if (field.kind === 'money' || field.kind === 'integer' || field.kind === 'number') return new NumberEvidence(field)
  return field.kind === 'boolean' ? new BooleanEvidence(field) : null
}
