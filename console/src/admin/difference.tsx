import { formatInstant } from '../design/formats.ts'
import { isBlank, labelOf } from '../records/fields.ts'

type Values = Readonly<Record<string, unknown>>
const asValues = (given: unknown): Values => (typeof given === 'object' && given !== null ? { ...given } : {})
const isSame = (one: unknown, other: unknown): boolean =>
  (isBlank(one) && isBlank(other)) || JSON.stringify(one) === JSON.stringify(other)

export type Change = { name: string; before: unknown; after: unknown }

/** The fields in which both differ; when it changed is told by the entry itself. */
export const changesOf = (before: unknown, after: unknown): Change[] => {
  const [old, now] = [asValues(before), asValues(after)]
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => name !== 'updatedAt' && !isSame(old[name], now[name]))
    .map((name) => ({ name, before: old[name], after: now[name] }))
}

/** What was before, and what after; only one of them where something came or went. */
export const Difference = ({ changes }: { changes: readonly Change[] }) => {
  const [hasBefore, hasAfter] = [
    changes.some(({ before }) => !isBlank(before)),
    changes.some(({ after }) => !isBlank(after)),
  ]
  return (
    <table className="difference">
      <thead>
        <tr>
          <th scope="col">Field</th>
          {hasBefore && <th scope="col">Before</th>}
          {hasAfter && <th scope="col">After</th>}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{labelOf(name)}</th>
            {hasBefore && <td>{isBlank(before) ? '–' : <del>{shown(before)}</del>}</td>}
            {hasAfter && <td>{isBlank(after) ? '–' : <ins>{shown(after)}</ins>}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

const shown = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string') return instant.test(value) ? formatInstant(value) : value
  if (Array.isArray(value)) return value.map(shown).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
