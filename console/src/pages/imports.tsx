import '../admin/administration.css'
import type { Import, ImportRun } from '@masthead/client/management'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { ImportDialog, progressOf, useRun } from '../admin/import-dialog.tsx'
import { RunProgress } from '../admin/run-progress.tsx'
import { Ago } from '../design/ago.tsx'
import { Badge } from '../design/badge.tsx'
import { Fetched } from '../design/fetched.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { Permitted } from '../permission.tsx'
import { formatNumber } from '../records/formats.ts'
import { useManagement } from '../session.tsx'

const queryKey = ['imports']
const title = 'Imports'

export const Page = () => (
  <Permitted title={title} scope="imports:manage">
    <Imports />
  </Permitted>
)

const lookMilliseconds = 2_000

const Imports = () => {
  const management = useManagement()
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => management.imports.list({ signal }),
    refetchInterval: ({ state }) => (state.data?.items[0]?.state === 'running' ? lookMilliseconds : false),
  })
  const [isImporting, setImporting] = useState(false)
  const [shown, setShown] = useState<ImportRun>()
  const [asked, setAsked] = useState<Import>()
  const [undo, setUndo] = useState<ImportRun>()
  return (
    <div className="page">
      <PageHead
        title={title}
        actions={
          <button type="button" className="button primary" onClick={() => setImporting(true)}>
            Import a file
          </button>
        }
      >
        Records from files. An import can be taken back for 30 days.
      </PageHead>
      {undo && <Undoing key={undo.id} begun={undo} />}
      <Fetched query={query} what="the imports">
        {({ items }) => (
          <div className="card table-frame">
            {items.length === 0 ? (
              <Empty title="Nothing was imported yet">
                <p>
                  Bring accounts, contacts, subscriptions and more from CSV or NDJSON files. A file is checked first,
                  and you see what it would do before anything is written.
                </p>
              </Empty>
            ) : (
              <ImportTable
                imports={items}
                onUndo={setAsked}
                onShow={async (runId) => setShown(await management.importRuns.get(runId))}
              />
            )}
          </div>
        )}
      </Fetched>
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
      {shown && <ImportDialog former={shown} onClose={() => setShown(undefined)} />}
      {asked && (
        <ConfirmDialog
          title="Take this import back?"
          action="Take it back"
          onClose={() => setAsked(undefined)}
          onConfirm={async () => setUndo(await management.imports.undo(asked.id))}
        >
          <p>
            What it created is removed, and what it changed gets its former values. Records that somebody changed since
            stay as they are.
          </p>
        </ConfirmDialog>
      )}
    </div>
  )
}

const Undoing = ({ begun }: { begun: ImportRun }) => {
  const queryClient = useQueryClient()
  const { run } = useRun(begun)
  const isOver = run.state !== 'running'
  useEffect(() => {
    if (isOver) void queryClient.invalidateQueries({ queryKey })
  }, [isOver, queryClient])
  if (!isOver) return <RunProgress label="Taking records back" {...progressOf(run)} />
  if (run.state !== 'done')
    return (
      <div className="notice" role="alert">
        <h2>The import was not taken back as a whole</h2>
        <p>{run.problem ?? 'The service was stopped in between. Take it back again: that completes it.'}</p>
      </div>
    )
  return (
    <p role="status" className="card padded">
      {formatNumber(run.removed)} records were removed, {formatNumber(run.restored)} got their former values
      {run.kept > 0 && <>, and {formatNumber(run.kept)} were kept, because somebody changed them since</>}.
    </p>
  )
}

const tones = {
  running: 'calm',
  interrupted: 'problem',
  done: 'good',
  undone: 'caution',
  'done, too old to undo': 'good',
} as const

const mayUndo = ({ state }: Import): boolean => state === 'done' || state === 'interrupted'

const sum = ({ files }: Import, count: (file: Import['files'][number]) => number): string =>
  formatNumber(files.reduce((total, file) => total + count(file), 0))

type ImportTableProps = {
  imports: readonly Import[]
  onUndo: (one: Import) => void
  /** What a run of the last day told: refused rows, or how far it is. */
  onShow: (runId: string) => void
}

const ImportTable = ({ imports, onUndo, onShow }: ImportTableProps) => (
  <table className="records plain">
    <caption className="visually-hidden">Imports</caption>
    <TableHead
      columns={['Files', 'State', { amount: 'Created' }, { amount: 'Changed' }, { amount: 'Refused' }, 'Begun']}
      hasActions
    />
    <tbody>
      {imports.map((one) => (
        <tr key={one.id}>
          <td>
            {one.files.map(({ file, resource }) => (
              <div key={file}>
                <strong className="row-title">{file.split('/').at(-1)}</strong>{' '}
                <span className="muted">{resource}</span>
              </div>
            ))}
          </td>
          <td data-label="State">
            <Badge tone={tones[one.state]}>{one.state}</Badge>
          </td>
          <td data-label="Created" className="end">
            {sum(one, ({ created }) => created)}
          </td>
          <td data-label="Changed" className="end">
            {sum(one, ({ changed }) => changed)}
          </td>
          <td data-label="Refused" className="end">
            {sum(one, ({ refused }) => refused)}
          </td>
          <td data-label="Begun">
            <Ago at={one.startedAt} />
          </td>
          <td className="row-actions">
            <ShowButton one={one} onShow={onShow} />
            {mayUndo(one) && (
              <button type="button" className="button danger" onClick={() => onUndo(one)}>
                Undo<span className="visually-hidden"> {one.files[0]?.file}</span>
              </button>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const ShowButton = ({ one: { runId, files }, onShow }: { one: Import; onShow: ImportTableProps['onShow'] }) =>
  runId === null ? null : (
    <button type="button" className="button" onClick={() => onShow(runId)}>
      Show<span className="visually-hidden"> {files[0]?.file}</span>
    </button>
  )
