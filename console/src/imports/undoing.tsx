import type { ImportRun } from '@masthead/client/management'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { formatNumber } from '../design/formats.ts'
import { useManagement } from '../session.tsx'
import { progressOf, RunProgress } from './run-progress.tsx'
import { useRun } from './runs.ts'

type UndoDialogProps = { importId: string; onBegun: (run: ImportRun) => void; onClose: () => void }

export const UndoDialog = ({ importId, onBegun, onClose }: UndoDialogProps) => {
  const { imports } = useManagement()
  return (
    <ConfirmDialog
      title="Take this import back?"
      action="Take it back"
      onClose={onClose}
      onConfirm={async () => onBegun(await imports.undo(importId))}
    >
      <p>
        What it created is removed, and what it changed gets its former values. Records that somebody changed since stay
        as they are.
      </p>
    </ConfirmDialog>
  )
}

/** An import that is taken back, and what became of its records. */
export const Undoing = ({ begun }: { begun: ImportRun }) => {
  const queryClient = useQueryClient()
  const { data: run = begun } = useRun(begun.id)
  const isOver = run.state !== 'running'
  useEffect(() => {
    if (isOver) void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'import-run' })
  }, [isOver, queryClient])
  if (!isOver) return <RunProgress {...progressOf(run)} label="Taking records back" />
  if (run.state !== 'done')
    return (
      <div className="notice" role="alert">
        <h2>The import was not taken back as a whole</h2>
        <p>{run.problem ?? 'The service was stopped in between. Take it back again: that completes it.'}</p>
      </div>
    )
  return (
    <p role="status" className="card padded">
      <TakenBack run={run} />.
    </p>
  )
}

/** "12 records were removed, 3 got their former values" */
export const TakenBack = ({ run: { removed, restored, kept } }: { run: ImportRun }) => (
  <>
    {records(removed)} removed, {formatNumber(restored)} got their former values
    {kept > 0 && <>, and {formatNumber(kept)} were kept, because somebody changed them since</>}
  </>
)

const records = (count: number): string => (count === 1 ? '1 record was' : `${formatNumber(count)} records were`)
