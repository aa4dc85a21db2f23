import type { ImportRun } from '@masthead/client/management'
import { TableHead } from '../design/table-head.tsx'
import { plain } from '../records/fields.ts'
import { formatNumber } from '../records/formats.ts'
import { useManagement } from '../session.tsx'
import { fieldLabel } from './field-label.ts'
import { SaveButton } from './save-button.tsx'

/** What an import did, or would do. */
export const Outcome = ({ run }: { run: ImportRun }) => {
  const isDone = run.state === 'done'
  return (
    <>
      <section className="card" aria-label={isDone ? 'What was imported' : 'What the import would do'}>
        <dl className="properties counts">
          <Count label={isDone ? 'Created' : 'To be created'} count={run.created} />
          <Count label={isDone ? 'Changed' : 'To be changed'} count={run.changed} />
          <Count label="The same already" count={run.unchanged} />
          <Count label="Refused" count={run.refused} />
        </dl>
      </section>
      {run.refused > 0 && <Refusals run={run} />}
    </>
  )
}

const Count = ({ label, count }: { label: string; count: number }) => (
  <div>
    <dt>{label}</dt>
    <dd>{formatNumber(count)}</dd>
  </div>
)

const Refusals = ({ run: { id, refused, groups, hasRejectedRows } }: { run: ImportRun }) => {
  const management = useManagement()
  const told = groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <section className="card" aria-labelledby="import-refusals">
      <div className="section-head">
        <h2 id="import-refusals">Why rows are refused</h2>
        {hasRejectedRows && (
          <SaveButton load={() => management.importRuns.rejectedRows(id)}>Save the refused rows</SaveButton>
        )}
      </div>
      <table className="records plain">
        <caption className="visually-hidden">Why rows are refused</caption>
        <TableHead columns={['Why', 'Field', { amount: 'Rows' }, 'First lines']} />
        <tbody>
          {groups.map(({ column, reason, example, count, lines }) => (
            <tr key={`${column} ${reason}`}>
              <td>
                <div>{plain(reason)}</div>
                {example !== reason && <div className="muted small">{plain(example)}</div>}
              </td>
              <td data-label="Field" className={column === '' ? 'blank' : undefined}>
                {column && fieldLabel(column)}
              </td>
              <td data-label="Rows" className="end">
                {formatNumber(count)}
              </td>
              <td data-label="First lines">
                {lines.map(formatNumber).join(', ')}
                {count > lines.length && ' …'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {(refused > told || hasRejectedRows) && (
        <p className="muted small section-foot">
          {refused > told && <>And {formatNumber(refused - told)} more for other reasons. </>}
          {hasRejectedRows &&
            'The file of refused rows is written as yours, with the reasons in front: mend it and import it again.'}
        </p>
      )}
    </section>
  )
}
