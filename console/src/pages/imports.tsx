import '../admin/administration.css'
import type { Import, ImportRun } from '@masthead/client/management'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParameters } from '../address.tsx'
import { Ago } from '../design/ago.tsx'
import { Badge } from '../design/badge.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatNumber } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { UndoDialog, Undoing } from '../imports/undoing.tsx'
import { Permitted } from '../permission.tsx'
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
  const [asked, setAsked] = useState<Import>()
  const [undo, setUndo] = useState<ImportRun>()
  const { state } = useParameters()
  return (
    <div className="page">
      <PageHead
        title={title}
        actions={
          <Link className="button primary" to="/admin/imports/new">
            Import a file
          </Link>
        }
      >
        Records from files. An import can be taken back for 30 days.
      </PageHead>
      {undo && <Undoing key={undo.id} begun={undo} />}
      <Fetched query={query} what="the imports">
        {({ items: all }) => {
          const items = state === undefined ? all : all.filter((one) => one.state === state)
          return (
            <>
              {state !== undefined && (
                <p className="muted">
                  Only those that are {state}. <Link to="/admin/imports">Show all</Link>
                </p>
              )}
              <div className="card table-frame">
                {items.length === 0 && all.length > 0 ? (
                  <Empty title={`No import is ${state}`} />
                ) : items.length === 0 ? (
                  <Empty title="Nothing was imported yet">
                    <p>
                      Bring accounts, contacts, subscriptions and more from Excel, CSV or JSON files as they are. You
                      see what a file would do before anything is written.
                    </p>
                  </Empty>
                ) : (
                  <ImportTable imports={items} onUndo={setAsked} />
                )}
              </div>
            </>
          )
        }}
      </Fetched>
      {asked && <UndoDialog importId={asked.id} onBegun={setUndo} onClose={() => setAsked(undefined)} />}
    </div>
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
}

const ImportTable = ({ imports, onUndo }: ImportTableProps) => (
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
            <ShowLink one={one} />
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

/** What a run of the last day told: refused rows, or how far it is. */
const ShowLink = ({ one: { runId, files } }: { one: Import }) =>
  runId === null ? null : (
    <Link className="button" to="/admin/imports/$id" id={runId}>
      Show<span className="visually-hidden"> {files[0]?.file}</span>
    </Link>
  )
