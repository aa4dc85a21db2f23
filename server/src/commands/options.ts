import { isScope, type Scope, scopes } from '@masthead/contract'
import { Option } from 'commander'
import { suggestion } from '../nearest-name.ts'
import { Refusal } from '../refusal.ts'

export const dataDirectoryOption = (): Option =>
  new Option(
    '--data-dir <folder>',
    'where the embedded PostgreSQL stores its data (default: MASTHEAD_DATA_DIR, else .masthead)',
  )

/** Reads `contacts:read,accounts:read`. */
export const readScopes = (text: string): Scope[] => {
  const names = [...new Set(text.split(/[\s,]+/).filter(Boolean))]
  if (names.length === 0) throw new Refusal('name at least one scope, as in --scopes contacts:read,accounts:read')
  return names.map((name) => {
    if (isScope(name)) return name
    throw new Refusal(`there is no scope "${name}". ${suggestion(name, Object.keys(scopes)).replaceAll('`', '')}`)
  })
}
