import type { ImportRun } from '@masthead/client/management'
import { formatNumber } from '../design/formats.ts'
import { TableHead } from '../design/table-head.tsx'
import { plain } from '../records/fields.ts'
import { capitalised } from '../records/kinds.ts'
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
      {run.files.length > 1 && <OutcomeByFile run={run} isDone={isDone} />}
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

const OutcomeByFile = ({ run: { files }, isDone }: { run: ImportRun; isDone: boolean }) => {
  const [created, changed] = isDone ? ['Created', 'Changed'] : ['To be created', 'To be changed']
  return (
    <section className="card" aria-labelledby="import-files">
      <div className="table-head">
        <h2 id="import-files">By file</h2>
      </div>
      <table className="records plain">
        <caption className="visually-hidden">By file</caption>
        <TableHead
          columns={[
            'File',
            'Holds',
            { amount: created },
            { amount: changed },
            { amount: 'The same already' },
            { amount: 'Refused' },
          ]}
        />
        <tbody>
          {files.map((file) => (
            <tr key={file.file}>
              <td>
                <strong className="row-title">{file.file}</strong>
              </td>
              <td data-label="Holds">{capitalised(file.resource)}</td>
              <Amount label={created} count={file.created} />
              <Amount label={changed} count={file.changed} />
              <Amount label="The same already" count={file.unchanged} />
              <Amount label="Refused" count={file.refused} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Amount = ({ label, count }: { label: string; count: number }) => (
  <td data-label={label} className="end">
    {formatNumber(count)}
  </td>
)

const Refusals = ({ run: { id, refused, groups, hasRejectedRows } }: { run: ImportRun }) => {
  const management = useManagement()
  const isByFile = groups.some(({ file }) => file !== '')
  const told = groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <section className="card" aria-labelledby="import-refusals">
      <div className="table-head">
        <h2 id="import-refusals">Why rows are refused</h2>
        {hasRejectedRows && (
          <SaveButton load={() => management.importRuns.rejectedRows(id)}>Save the refused rows</SaveButton>
        )}
      </div>
      <table className="records plain">
        <caption className="visually-hidden">Why rows are refused</caption>
        <TableHead columns={['Why', ...(isByFile ? ['File'] : []), 'Field', { amount: 'Rows' }, 'First lines']} />
        <tbody>
          {groups.map(({ file, column, reason, example, count, lines }) => (
            <tr key={`${file} ${column} ${reason}`}>
              <td>
                <div>{plain(reason)}</div>
                {example !== reason && <div className="muted small">{plain(example)}</div>}
              </td>
              {isByFile && <td data-label="File">{file}</td>}
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
            `The ${isByFile ? 'files' : 'file'} of refused rows ${isByFile ? 'are' : 'is'} written as yours, with the reasons in front: mend ${isByFile ? 'them' : 'it'} and import ${isByFile ? 'them' : 'it'} again.`}
        </p>
      )}
    </section>
  )
}
