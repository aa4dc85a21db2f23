import type { ImportRun } from '@masthead/client/management'
import { Trouble } from '../design/states.tsx'
import { Archive, problemsOfOthers } from './archive.tsx'
import { rivalsOf } from './column-choices.ts'
import { Columns } from './columns.tsx'
import type { Decisions } from './decisions.ts'
import { Formats } from './formats.tsx'
import { Preview } from './preview.tsx'
import { Reading } from './reading.tsx'
import { type Inspection, isArchive } from './runs.ts'
import { Statuses } from './statuses.tsx'

type DecidingProps = { run: ImportRun; inspection: Inspection; decisions: Decisions; onCheck: () => void }

/** What was understood of the file, what is to be decided about it, and what comes of that. */
export const Deciding = ({ run, inspection, decisions, onCheck }: DecidingProps) => {
  const { resource, member, isLooking, error } = decisions
  const isOfArchive = isArchive(inspection)
  const isLeftOut = inspection.members.some(({ name, isLeftOut }) => name === member && isLeftOut)
  const own = isLeftOut ? [] : inspection.problems.map((problem) => withHeading(inspection, problem))
  const problems = isOfArchive ? [...own, ...problemsOfOthers(inspection, member)] : own
  const isTwice = (decisions.options.columns ?? []).some(
    ({ heading }) => rivalsOf(decisions.options, heading).length > 0,
  )
  const isReady = problems.length === 0 && !isTwice && (resource !== undefined || isLeftOut) && !isLooking
  // While another file of an archive is looked at, what is known is about the one before.
  const isShown = !isOfArchive || inspection.member === member
  return (
    <>
      {run.state === 'failed' && (
        <div className="notice" role="alert">
          <h2>This file cannot be imported as it is read now</h2>
          <p>{run.problem}</p>
        </div>
      )}
      {isOfArchive && <Archive inspection={inspection} decisions={decisions} />}
      {isShown && <Reading inspection={inspection} decisions={decisions} />}
      {isShown && resource !== undefined && (
        <>
          <Columns inspection={inspection} resource={resource} decisions={decisions} />
          <Formats inspection={inspection} decisions={decisions} />
          <Statuses inspection={inspection} resource={resource} decisions={decisions} />
          <Preview inspection={inspection} />
        </>
      )}
      {error !== undefined && <Trouble error={error} />}
      <div className="form-actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!isReady}
          aria-describedby="import-problems"
          onClick={() => isReady && onCheck()}
        >
          {isOfArchive ? 'Check all files' : 'Check the file'}
        </button>
        <div id="import-problems" className="problems" role="status">
          {isLooking ? (
            <p className="muted">Looking at the file …</p>
          ) : (
            [...problems, ...(run.state === 'failed' ? [run.problem ?? ''] : [])].map((problem) => (
              <p key={problem} className="field-error">
                {problem}
              </p>
            ))
          )}
        </div>
      </div>
    </>
  )
}

/** The service names the field in front of what is in doubt; the person sees the column. */
const withHeading = ({ formats }: Inspection, problem: string): string => {
  const [name = '', ...rest] = problem.split(': ')
  const format = formats.find(({ field }) => field.toLowerCase() === name.toLowerCase())
  return format === undefined ? problem : [format.heading, ...rest].join(': ')
}
