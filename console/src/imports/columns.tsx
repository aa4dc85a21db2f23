import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import { TableHead } from '../design/table-head.tsx'
import { formatNumber } from '../records/formats.ts'
import type { Decisions } from './decisions.ts'
import { fieldLabel } from './field-label.ts'
import type { Inspection } from './runs.ts'

const [undecided, leftOut] = ['?', '-']

type ColumnsProps = { inspection: Inspection; resource: ResourceName; decisions: Decisions }

/** What each column holds, with values of it beside the choice. */
export const Columns = ({ inspection: { columns, unknown }, resource, decisions }: ColumnsProps) => {
  const { options, decide } = decisions
  const chosen = new Map(options.columns?.map(({ heading, field }) => [heading, field ?? leftOut]))
  const choose = (heading: string, value: string) => {
    const others = (options.columns ?? []).filter((one) => one.heading !== heading)
    const field = value === leftOut ? null : value
    decide({ columns: value === undecided ? others : [...others, { heading, field }] })
  }
  const fields = storedFieldsOf(resource)
  return (
    <section className="card" aria-labelledby="import-columns">
      <div className="section-head">
        <h2 id="import-columns">Columns</h2>
        {unknown.length > 0 && (
          <button type="button" className="button" onClick={() => decide({ ignoreUnknown: true })}>
            Leave out unknown columns
          </button>
        )}
      </div>
      <table className="records plain columns-table">
        <caption className="visually-hidden">Columns of the file</caption>
        <TableHead columns={['Column', 'First values', 'Field', { amount: 'Values' }]} />
        <tbody>
          {columns.map(({ heading, examples, field, match, values }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a file may have a heading twice, and no column moves
            <tr key={place} data-unknown={unknown.includes(heading)}>
              <td>
                <strong className="row-title">{heading || 'without a name'}</strong>
              </td>
              <td data-label="First values" className={examples.length === 0 ? 'blank' : 'examples'}>
                {examples.map((example, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the same value may come twice, and none moves
                  <span key={index}>{example}</span>
                ))}
              </td>
              <td data-label="Field">
                <select
                  className="select"
                  aria-label={`Field of ${heading}`}
                  aria-invalid={unknown.includes(heading)}
                  value={
                    chosen.get(heading) ??
                    field ??
                    (match === 'unknown' && !options.ignoreUnknown ? undecided : leftOut)
                  }
                  onChange={({ target }) => choose(heading, target.value)}
                >
                  {match === 'unknown' && <option value={undecided}>Choose a field …</option>}
                  <option value={leftOut}>Leave it out</option>
                  {fields.map(({ name }) => (
                    <option key={name} value={name}>
                      {fieldLabel(name)}
                    </option>
                  ))}
                </select>
              </td>
              <td data-label="Values" className="end">
                {formatNumber(values)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
