import { labelOf } from '../records/fields.ts'

/** `E-mail (email)`, `City`: with the name in the API where that is another. */
export const fieldLabel = (name: string): string => {
  const label = labelOf(name)
  return label.toLowerCase().replaceAll(' ', '') === name.toLowerCase() ? label : `${label} (${name})`
}
