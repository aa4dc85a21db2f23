import type { ImportRun } from '@masthead/client/management'
import { type ResourceName, resourceNames } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Dialog } from '../design/dialog.tsx'
import { Field } from '../design/field.tsx'
import { Select } from '../design/select.tsx'
import { Trouble } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { useSubmission } from '../forms/submission.ts'
import { formatNumber } from '../records/formats.ts'
import { useManagement } from '../session.tsx'
import { mostBytes, resourceOfName, sendFile } from './file-parts.ts'
import { RunProgress } from './run-progress.tsx'

const lookMilliseconds = 400

/** How a run stands, looked at again and again while it is at work. */
export const useRun = (first: ImportRun) => {
  const management = useManagement()
  const { data = first, error } = useQuery({
    queryKey: ['import-run', first.id],
    queryFn: ({ signal }) => management.importRuns.get(first.id, { signal }),
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : lookMilliseconds),
  })
  return { run: data, error }
}

/** From a file to its records: chosen, sent, looked at, and only then imported. */
export const ImportDialog = ({ former, onClose }: { former?: ImportRun | undefined; onClose: () => void }) => {
  const [begun, setBegun] = useState(former)
  return (
    <Dialog title="Import a file" onClose={onClose}>
      {begun ? (
        // Each beginning is looked at anew.
        <Run key={`${begun.id} ${begun.state}`} begun={begun} onAgain={() => setBegun(undefined)} onClose={onClose} />
      ) : (
        <Choice onBegun={setBegun} onClose={onClose} />
      )}
    </Dialog>
  )
}

const Choice = ({ onBegun, onClose }: { onBegun: (run: ImportRun) => void; onClose: () => void }) => {
  const management = useManagement()
  const [file, setFile] = useState<File>()
  const [resource, setResource] = useState<ResourceName>('contacts')
  const [sent, setSent] = useState<number>()
  const [error, setError] = useState<unknown>()
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const { current } = leaving
    return () => current.abort()
  }, [])
  const isTooLarge = file !== undefined && file.size > mostBytes
  const send = async (chosen: File) => {
    const { signal } = leaving.current
    setError(undefined)
    setSent(0)
    try {
      const { id: runId } = await sendFile(management, chosen, resource, { signal, onProgress: setSent })
      onBegun(await management.importRuns.check(runId, { signal }))
    } catch (reason) {
      if (signal.aborted) return
      setSent(undefined)
      setError(reason)
    }
  }
  if (file && sent !== undefined) return <RunProgress label={`Sending ${file.name}`} done={sent} of={file.size} />
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (file && !isTooLarge) void send(file)
      }}
    >
      <Field
        label="File"
        help="CSV with the names of fields in its first line, or one JSON object on each line. What is there already is changed or left alone, never doubled: contacts and invoices are known by a column externalId or id, the others by their own identifier."
        error={
          isTooLarge
            ? `This file is too large for a browser, which sends at most ${formatNumber(mostBytes / 1_000_000)} MB. The operator can import it by \`masthead import\`.`
            : undefined
        }
      >
        {(control) => (
          <input
            {...control}
            className="input"
            type="file"
            accept=".csv,.tsv,.txt,.ndjson,.jsonl,.gz"
            onChange={({ target }) => {
              const [chosen] = target.files ?? []
              setFile(chosen)
              setResource((former) => resourceOfName(chosen?.name ?? '') ?? former)
            }}
          />
        )}
      </Field>
      <Select
        label="What it holds"
        value={resource}
        onChange={(value) => setResource(resourceOfName(value) ?? resource)}
        options={resourceNames.map((value) => [value, value.charAt(0).toUpperCase() + value.slice(1)])}
      />
      {error !== undefined && <Trouble error={error} />}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" aria-disabled={!file || isTooLarge}>
          Check the file
        </button>
      </div>
    </form>
  )
}

type RunProps = { begun: ImportRun; onAgain: () => void; onClose: () => void }

const Run = ({ begun, onAgain, onClose }: RunProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { run, error } = useRun(begun)
  const { error: trouble, send } = useSubmission()
  const isDone = run.state === 'done'
  useEffect(() => {
    if (isDone) void queryClient.invalidateQueries()
  }, [isDone, queryClient])
  const start = async () => {
    const started = await send({ id: run.id }, ({ id }, options) => management.importRuns.start(id, options))
    if (!started) return
    queryClient.setQueryData(['import-run', run.id], started)
    await queryClient.invalidateQueries({ queryKey: ['import-run', run.id] })
  }
  if (run.state === 'running')
    return <RunProgress label={stepWords[run.progress?.step ?? 'reading']} {...progressOf(run)} />
  return (
    <div className="form">
      <Outcome run={run} />
      {trouble !== undefined && <Trouble error={trouble} />}
      {error !== null && <Trouble error={error} />}
      <div className="dialog-actions">
        {isDone ? (
          <button type="button" className="button primary" onClick={onClose}>
            Close
          </button>
        ) : (
          <>
            <button type="button" className="button" onClick={onAgain}>
              Choose another file
            </button>
            {run.state === 'checked' && run.created + run.changed > 0 && (
              <button type="button" className="button primary" onClick={start}>
                Import {formatNumber(run.created + run.changed)}{' '}
                {run.created + run.changed === 1 ? 'record' : 'records'}
              </button>
            )}
            {run.state === 'interrupted' && (
              <button type="button" className="button primary" onClick={start}>
                Go on
              </button>
            )}
          </>
        )}
      </div>
    </div>
  )
}

const stepWords = {
  reading: 'Reading the file',
  judging: 'Comparing it with what is there',
  writing: 'Writing records',
  undoing: 'Taking records back',
}

export const progressOf = ({ progress }: ImportRun) => ({ done: progress?.done ?? 0, of: progress?.of ?? 0 })

const Outcome = ({ run }: { run: ImportRun }) => {
  if (run.state === 'failed')
    return (
      <div className="notice" role="alert">
        <h2>This file cannot be imported</h2>
        <p>{run.problem}</p>
      </div>
    )
  if (run.state === 'interrupted')
    return (
      <div className="notice" role="alert">
        <h2>The import was interrupted</h2>
        <p>The service was stopped in between. What went in stays; going on completes it, and doubles nothing.</p>
      </div>
    )
  const isDone = run.state === 'done'
  return (
    <>
      <p role="status">
        <strong>{run.fileName}</strong>:{' '}
        {isDone ? 'imported.' : 'this is what the import would do. Nothing is written yet.'}
      </p>
      <dl className="properties counts">
        <Count label={isDone ? 'Created' : 'To be created'} count={run.created} />
        <Count label={isDone ? 'Changed' : 'To be changed'} count={run.changed} />
        <Count label="The same already" count={run.unchanged} />
        <Count label="Refused" count={run.refused} />
      </dl>
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

const Refusals = ({ run: { id, fileName, refused, refusals, hasRejectedRows } }: { run: ImportRun }) => (
  <div>
    <div className="table-frame bounded">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section tabIndex={0} aria-label="The first refused rows">
        <table className="records plain">
          <caption className="visually-hidden">The first refused rows</caption>
          <TableHead columns={[{ amount: 'Line' }, 'Column', 'Why']} />
          <tbody>
            {refusals.map(({ line, column, reason }) => (
              <tr key={`${line} ${column} ${reason}`}>
                <td className="end" data-label="Line">
                  {line}
                </td>
                <td data-label="Column">{column}</td>
                <td data-label="Why">{reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
    {refused > refusals.length && <p className="muted small">and {formatNumber(refused - refusals.length)} more</p>}
    {hasRejectedRows && <RejectedRows runId={id} fileName={fileName} />}
  </div>
)

const RejectedRows = ({ runId, fileName }: { runId: string; fileName: string }) => {
  const management = useManagement()
  const [trouble, setTrouble] = useState<unknown>()
  const save = async () => {
    try {
      const { content } = await management.importRuns.rejectedRows(runId)
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([content], { type: 'text/csv' }))
      link.download = `${fileName}.rejected.csv`
      link.click()
      URL.revokeObjectURL(link.href)
    } catch (reason) {
      setTrouble(reason)
    }
  }
  return (
    <>
      <p>
        <button type="button" className="button" onClick={save}>
          Save the refused rows
        </button>{' '}
        <span className="muted small">with the reasons, ready to be mended and imported again</span>
      </p>
      {trouble !== undefined && <Trouble error={trouble} />}
    </>
  )
}
