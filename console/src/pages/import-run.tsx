import '../admin/administration.css'
import '../design/form.css'
import '../imports/imports.css'
import type { ImportRun } from '@masthead/client/management'
import { listedNames } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, usePathId } from '../address.tsx'
import { formatNumber } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Loading, Trouble } from '../design/states.tsx'
import { useSubmission } from '../forms/submission.ts'
import { Deciding } from '../imports/deciding.tsx'
import { useDecisions } from '../imports/decisions.ts'
import { Outcome } from '../imports/outcome.tsx'
import { progressOf, RunProgress } from '../imports/run-progress.tsx'
import { type Inspection, useRun, useShowRun } from '../imports/runs.ts'
import { type Step, Steps } from '../imports/steps.tsx'
import { TakenBack, UndoDialog, Undoing } from '../imports/undoing.tsx'
import { Permitted } from '../permission.tsx'
import { useManagement } from '../session.tsx'

export const Page = () => (
  <Permitted title="Import a file" scope="imports:manage">
    <div className="page">
      <Run />
    </div>
  </Permitted>
)

const crumbs = <Link to="/admin/imports">Imports</Link>

const Run = () => {
  const { data: run, error, refetch } = useRun(usePathId())
  if (!run && error)
    return (
      <>
        <PageHead title="This import cannot be shown" crumbs={crumbs} />
        <Trouble error={error} onRetry={() => refetch()} />
      </>
    )
  if (!run) return <Loading what="the import" />
  if (run.kind === 'undo')
    return (
      <>
        <PageHead title="An import is taken back" crumbs={crumbs} />
        <Undoing begun={run} />
      </>
    )
  return <Import key={run.id} run={run} />
}

/** The latest inspection of the file; that of before while it is looked at again, or where that failed. */
const useInspection = ({ inspection }: ImportRun): Inspection | null => {
  const latest = useRef(inspection)
  latest.current = inspection ?? latest.current
  return latest.current
}

const Import = ({ run }: { run: ImportRun }) => {
  const management = useManagement()
  const show = useShowRun()
  const decisions = useDecisions(run)
  const inspection = useInspection(run)
  const [isChanging, setChanging] = useState(false)
  const { error: trouble, send } = useSubmission({ isRepeatable: true })
  const answered = useRef<ImportRun>(null)
  const act = async (call: () => Promise<ImportRun>) => {
    // A click that comes before the answer to the last one is drawn is one too many.
    if (answered.current === run) return
    const next = await send({}, call)
    if (!next) return
    answered.current = run
    await show(next)
    setChanging(false)
  }
  const isDeciding =
    decisions.isLooking ||
    run.state === 'inspected' ||
    run.state === 'failed' ||
    (run.state === 'checked' && isChanging)
  const step = stepOf(run, isDeciding)
  useStartOfPage(isDeciding ? 'deciding' : run.state)
  const start = () => act(() => management.importRuns.start(run.id))
  const view = (): ReactNode => {
    if (isDeciding && inspection)
      return (
        <Deciding
          run={run}
          inspection={inspection}
          decisions={decisions}
          onCheck={() => act(() => management.importRuns.check(run.id))}
        />
      )
    if (run.state === 'running')
      return <Running run={run} onCancel={() => act(() => management.importRuns.cancel(run.id))} />
    if (run.state === 'checked') return <Checked run={run} onStart={start} onChange={() => setChanging(true)} />
    if (run.state === 'done') return <Done run={run} />
    return <Ended run={run} onStart={start} onLook={() => act(() => management.importRuns.inspect(run.id))} />
  }
  return (
    <>
      <PageHead
        title={run.fileName}
        crumbs={crumbs}
        actions={
          run.state !== 'running' && (
            <Link className="button" to="/admin/imports/new">
              Choose another file
            </Link>
          )
        }
      />
      <Steps at={step} />
      {trouble !== undefined && <Trouble error={trouble} />}
      {view()}
    </>
  )
}

const stepOf = ({ state, progress }: ImportRun, isDeciding: boolean): Step => {
  if (isDeciding) return 'Columns'
  const isWritten = progress?.step === 'writing' || progress?.step === 'undoing'
  if (state === 'done' || state === 'interrupted' || isWritten) return 'Import'
  return state === 'receiving' ? 'File' : 'Check'
}

/** What comes next begins at its beginning, also for who does not see the page. */
const useStartOfPage = (view: string) => {
  const shown = useRef(view)
  useEffect(() => {
    if (shown.current === view) return
    shown.current = view
    scrollTo(0, 0)
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [view])
}

const Running = ({ run, onCancel }: { run: ImportRun; onCancel: () => void }) => (
  <section className="card padded" aria-label="Progress">
    <RunProgress {...progressOf(run)}>
      {run.progress?.step !== 'undoing' && (
        <div className="with-button">
          <button type="button" className="button" onClick={onCancel}>
            Cancel
          </button>
          <span className="muted small">
            {run.progress?.step === 'writing' ? 'takes back what was written' : 'nothing is written yet'}
          </span>
        </div>
      )}
    </RunProgress>
  </section>
)

type CheckedProps = { run: ImportRun; onStart: () => void; onChange: () => void }

const Checked = ({ run, onStart, onChange }: CheckedProps) => {
  const count = run.created + run.changed
  return (
    <>
      <p role="status">This is what the import would do. Nothing is written yet.</p>
      <Outcome run={run} />
      <div className="form-actions">
        {count > 0 && (
          <button type="button" className="button primary" onClick={onStart}>
            Import {formatNumber(count)} {count === 1 ? 'record' : 'records'}
          </button>
        )}
        {run.inspection !== null && (
          <button type="button" className="button" onClick={onChange}>
            Change columns
          </button>
        )}
      </div>
    </>
  )
}

const Done = ({ run }: { run: ImportRun }) => {
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [undo, setUndo] = useState<ImportRun>()
  useEffect(() => {
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'import-run' })
  }, [queryClient])
  const { importId } = run
  const listed = listedNames.filter((name) => run.files.some(({ resource }) => resource === name))
  return (
    <>
      {undo ? <Undoing begun={undo} /> : <p role="status">The file was imported.</p>}
      <Outcome run={run} />
      {importId !== null && !undo && (
        <div className="form-actions">
          {listed.map((name) => (
            <Link key={name} className="button primary" to={`/${name}`}>
              Show {name}
            </Link>
          ))}
          <button type="button" className="button danger" onClick={() => setAsking(true)}>
            Undo
          </button>
        </div>
      )}
      {isAsking && importId !== null && (
        <UndoDialog importId={importId} onBegun={setUndo} onClose={() => setAsking(false)} />
      )}
    </>
  )
}

type EndedProps = { run: ImportRun; onStart: () => void; onLook: () => void }

/** It did not come to its end. */
const Ended = ({ run, onStart, onLook }: EndedProps) => (
  <>
    <div className="notice" role="alert">
      <Why run={run} />
    </div>
    {run.state === 'interrupted' && (
      <div className="form-actions">
        <button type="button" className="button primary" onClick={onStart}>
          Go on
        </button>
      </div>
    )}
    {run.state === 'cancelled' && (
      <div className="form-actions">
        <button type="button" className="button primary" onClick={onLook}>
          Look at the file again
        </button>
      </div>
    )}
  </>
)

const Why = ({ run }: { run: ImportRun }) => {
  if (run.state === 'interrupted')
    return (
      <>
        <h2>The import was interrupted</h2>
        <p>The service was stopped in between. What went in stays; going on completes it, and doubles nothing.</p>
      </>
    )
  if (run.state === 'cancelled')
    return (
      <>
        <h2>Cancelled</h2>
        <p>{run.removed + run.restored + run.kept === 0 ? 'Nothing was written' : <TakenBack run={run} />}.</p>
      </>
    )
  if (run.state === 'receiving')
    return (
      <>
        <h2>This file did not arrive as a whole</h2>
        <p>Choose it again.</p>
      </>
    )
  return (
    <>
      <h2>This file cannot be imported</h2>
      <p>{run.problem}</p>
    </>
  )
}
