import { Fragment } from 'react'
import { TableHead } from '../design/table-head.tsx'
import { labelOf } from '../records/fields.ts'
import type { Inspection } from './runs.ts'

/** What the first rows would become. */
export const Preview = ({ inspection: { preview, formats } }: { inspection: Inspection }) => {
  const { fields, rows } = preview
  // As long as nobody knows how a column is written, every row of it would be wrong.
  const isInDoubt = formats.some(({ format, option }) => format === '' && option !== '')
  if (rows.length === 0) return null
  return (
    <section className="card narrowing" aria-labelledby="import-preview">
      <div className="table-head">
        <h2 id="import-preview">
          {rows.length === 1 ? 'What the first row becomes' : `What the first ${rows.length} rows become`}
        </h2>
      </div>
      <div className="table-frame bounded tall">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <section tabIndex={0} aria-label="The first rows">
          <table className="records plain preview">
            <caption className="visually-hidden">The first rows</caption>
            <TableHead columns={[{ amount: 'Line' }, ...fields.map(labelOf)]} />
            <tbody>
              {rows.map(({ line, values, problem }) => (
                <Fragment key={line}>
                  <tr>
                    <td className="end">{line}</td>
                    {fields.map((field, index) => (
                      <td
                        key={field}
                        data-label={labelOf(field)}
                        className={values[index] == null ? 'blank' : undefined}
                      >
                        {values[index] === '' ? <span className="muted">empty text</span> : values[index]}
                      </td>
                    ))}
                  </tr>
                  {problem !== null && !isInDoubt && (
                    <tr className="row-problem">
                      <td colSpan={fields.length + 1} className="field-error">
                        Line {line}: {problem}
                      </td>
                    </tr>
                  )}
                </Fragment>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </section>
  )
}
