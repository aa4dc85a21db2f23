import { type Field, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { formatNumber } from '../design/formats.ts'
import { TableHead } from '../design/table-head.tsx'
import { chosen, inParts, joined, joinOf, leftOut, rivalsOf, splitOf, undecided } from './column-choices.ts'
import { JoinedColumns, SplitParts } from './column-parts.tsx'
import type { Decisions } from './decisions.ts'
import { fieldLabel } from './field-label.ts'
import type { Inspection } from './runs.ts'

type ColumnsProps = { inspection: Inspection; resource: ResourceName; decisions: Decisions }

/** What each column holds, with values of it beside the choice. */
export const Columns = ({ inspection: { columns, unknown }, resource, decisions }: ColumnsProps) => {
  const { decide } = decisions
  const fields = storedFieldsOf(resource)
  return (
    <section className="card" aria-labelledby="import-columns">
      <div className="table-head">
        <div>
          <h2 id="import-columns">Columns</h2>
          <p className="muted small">Choose the same field for two columns to join them.</p>
        </div>
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
          {columns.map((column, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a file may have a heading twice, and no column moves
            <tr key={place} data-unknown={unknown.includes(column.heading)}>
              <td>
                <strong className="row-title">{column.heading || 'without a name'}</strong>
              </td>
              <td data-label="First values" className={column.examples.length === 0 ? 'blank' : 'examples'}>
                {column.examples.map((example, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the same value may come twice, and none moves
                  <span key={index}>{example}</span>
                ))}
              </td>
              <td data-label="Field">
                <FieldOfColumn
                  column={column}
                  columns={columns}
                  fields={fields}
                  resource={resource}
                  decisions={decisions}
                  isUnknown={unknown.includes(column.heading)}
                />
              </td>
              <td data-label="Values" className="end">
                {formatNumber(column.values)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

type FieldOfColumnProps = {
  column: Inspection['columns'][number]
  columns: Inspection['columns']
  fields: readonly Field[]
  resource: ResourceName
  isUnknown: boolean
  decisions: Decisions
}

const FieldOfColumn = ({ column, columns, fields, resource, isUnknown, decisions }: FieldOfColumnProps) => {
  const { options, decide } = decisions
  const { heading, field, match } = column
  const [split, join, rivals] = [splitOf(options, heading), joinOf(options, heading), rivalsOf(options, heading)]
  const choice = (): string => {
    if (split) return inParts
    if (join) return join.field
    const decided = options.columns?.find((one) => one.heading === heading)
    if (decided) return decided.field ?? leftOut
    return field ?? (match === 'unknown' && !options.ignoreUnknown ? undecided : leftOut)
  }
  return (
    <div className="column-field">
      <select
        className="select"
        aria-label={`Field of ${heading}`}
        aria-invalid={isUnknown || rivals.length > 0}
        value={choice()}
        onChange={({ target: { value } }) => decide(chosen(options, { heading, value, resource, noticed: columns }))}
      >
        {match === 'unknown' && <option value={undecided}>Choose a field …</option>}
        <option value={leftOut}>Leave it out</option>
        <option value={inParts}>Split it into fields</option>
        {fields.map(({ name }) => (
          <option key={name} value={name}>
            {fieldLabel(name)}
          </option>
        ))}
      </select>
      {split && <SplitParts split={split} fields={fields} decisions={decisions} />}
      {join && join.of[0] === heading && <JoinedColumns join={join} decisions={decisions} />}
      {rivals.length > 0 && (
        <div className="column-parts">
          <span className="field-error">Also chosen for {rivals.join(', ')}.</span>
          <button type="button" className="link-button small" onClick={() => decide(joined(options, heading, columns))}>
            Join them<span className="visually-hidden"> ({[heading, ...rivals].join(', ')})</span>
          </button>
        </div>
      )}
    </div>
  )
}
