import { type DragEvent, useEffect, useRef, useState } from 'react'
import { Field } from '../design/field.tsx'
import { formatNumber } from '../design/formats.ts'
import { Trouble } from '../design/states.tsx'
import { useManagement } from '../session.tsx'
import { mostBytes, sendFile } from './file-parts.ts'
import { RunProgress } from './run-progress.tsx'

/** A file is sent as soon as it is chosen: nothing is written before somebody says so. */
export const ChooseFile = ({ onSent }: { onSent: (runId: string) => void }) => {
  const management = useManagement()
  const [file, setFile] = useState<File>()
  const [sent, setSent] = useState<number>()
  const [error, setError] = useState<unknown>()
  const [isOver, setOver] = useState(false)
  const leaving = useRef(new AbortController())
  useEffect(() => {
    leaving.current = new AbortController()
    return () => leaving.current.abort()
  }, [])
  const fault = file && faultOf(file)
  const choose = async (chosen: File | undefined) => {
    setFile(chosen)
    setError(undefined)
    if (!chosen || faultOf(chosen) !== undefined) return
    const { signal } = leaving.current
    setSent(0)
    try {
      const { id } = await sendFile(management, chosen, { signal, onProgress: setSent })
      await management.importRuns.inspect(id, { signal })
      onSent(id)
    } catch (reason) {
      if (signal.aborted) return
      setSent(undefined)
      setError(reason)
    }
  }
  const stop = () => {
    leaving.current.abort()
    leaving.current = new AbortController()
    setFile(undefined)
    setSent(undefined)
  }
  if (file && sent !== undefined)
    return (
      <div className="card padded">
        <RunProgress label={`Sending ${file.name}`} done={sent} of={file.size}>
          <div>
            <button type="button" className="button" onClick={stop}>
              Cancel
            </button>
          </div>
        </RunProgress>
      </div>
    )
  const drag = (event: DragEvent, over: boolean) => {
    event.preventDefault()
    setOver(over)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what can be dropped here can be chosen by the control within
    <div
      className={isOver ? 'card drop over' : 'card drop'}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={(event) => {
        drag(event, false)
        void choose(event.dataTransfer.files[0])
      }}
    >
      <Field
        label="File"
        error={fault}
        help="Excel (.xlsx), CSV, tab-separated text, JSON or NDJSON, in any of the usual encodings, also gzipped or in a .zip. Drop it here, or choose it."
      >
        {(control) => (
          <input {...control} className="input" type="file" onChange={({ target }) => void choose(target.files?.[0])} />
        )}
      </Field>
      {error !== undefined && <Trouble error={error} />}
    </div>
  )
}

const faultOf = ({ size }: File): string | undefined => {
  if (size === 0) return 'This file is empty.'
  if (size <= mostBytes) return undefined
  return `This file is too large for a browser, which sends at most ${formatNumber(mostBytes / 1_000_000)} MB. The operator can import it by \`masthead import\`.`
}
