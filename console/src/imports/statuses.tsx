import { fieldOf, type ResourceName } from '@masthead/contract'
import { formatNumber, formatStatus } from '../design/formats.ts'
import { TableHead } from '../design/table-head.tsx'
import type { Decisions } from './decisions.ts'
import type { Inspection } from './runs.ts'

const asItIs = '='

type StatusesProps = { inspection: Inspection; resource: ResourceName; decisions: Decisions }

/** Statuses that nobody knows yet. They go in as they are, unless they stand for one that is known. */
export const Statuses = ({ inspection: { statuses }, resource, decisions: { options, decide } }: StatusesProps) => {
  const translations = options.translations ?? []
  // What is translated is no longer noticed as unknown, but can be changed.
  const noticed = statuses.map(({ field, value, count }) => ({ field, value, count: formatNumber(count) }))
  const others = translations
    .filter(({ field, from }) => !statuses.some((one) => one.field === field && one.value === from))
    .map(({ field, from }) => ({ field, value: from, count: '' }))
  const rows = [...noticed, ...others]
  if (rows.length === 0) return null
  const choose = (field: string, from: string, to: string) => {
    const kept = translations.filter((one) => one.field !== field || one.from !== from)
    decide({ translations: to === asItIs ? kept : [...kept, { field, from, to }] })
  }
  return (
    <section className="card" aria-labelledby="import-statuses">
      <div className="table-head">
        <h2 id="import-statuses">Unknown statuses</h2>
      </div>
      <table className="records plain">
        <caption className="visually-hidden">Statuses that nobody knows yet</caption>
        <TableHead columns={['In the file', { amount: 'Rows' }, 'Becomes']} />
        <tbody>
          {rows.map(({ field, value, count }) => (
            <tr key={`${field} ${value}`}>
              <td>
                <strong className="row-title">{value}</strong>
              </td>
              <td data-label="Rows" className={count === '' ? 'end blank' : 'end'}>
                {count}
              </td>
              <td data-label="Becomes">
                <select
                  className="select"
                  aria-label={`What ${value} becomes`}
                  value={translations.find((one) => one.field === field && one.from === value)?.to ?? asItIs}
                  onChange={({ target }) => choose(field, value, target.value)}
                >
                  <option value={asItIs}>{value}, as it is</option>
                  {fieldOf(resource, field).known.map((known) => (
                    <option key={known} value={known}>
                      {formatStatus(known)}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
