import type { TObject } from 'typebox'
import { closed } from '../fields.ts'
import { Type } from '../schema.ts'

/** A list that is short enough to be sent as a whole. */
export const listOf = <R extends TObject>(record: R, title: string) =>
  Type.Object({ items: Type.Array(record, { description: 'All of them.' }) }, { ...closed, title })
