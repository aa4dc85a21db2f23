import type { ListedName } from '@masthead/contract'
import { useEffect, useState } from 'react'
import { Dialog } from '../design/dialog.tsx'
import { formatNumber } from '../design/formats.ts'
import { saveFile } from '../design/save-file.ts'
import { Trouble } from '../design/states.tsx'
import { kinds } from '../records/kinds.ts'
import { useMasthead } from '../session.tsx'
import { type Exported, type ExportFilters, makeExport, type Progress, TooManyFound } from './export.ts'

type ExportDialogProps = { name: ListedName; filters: ExportFilters; fileName: string; onClose: () => void }

/** Makes the file, tells how far it is, and saves it. Closing the dialog before that cancels the export. */
export const ExportDialog = ({ name, filters, fileName, onClose }: ExportDialogProps) => {
  const masthead = useMasthead()
  const [progress, setProgress] = useState<Progress>({ step: 'finding' })
  const [made, setMade] = useState<Exported>()
  const [trouble, setTrouble] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is about the list as it was when it was asked for
  useEffect(() => {
    const cancelling = new AbortController()
    const { signal } = cancelling
    makeExport(masthead, name, filters, setProgress, signal).then(
      (exported) => {
        if (signal.aborted) return
        setMade(exported)
        saveFile(exported.content, fileName)
      },
      (error) => signal.aborted || setTrouble(error),
    )
    return () => cancelling.abort()
  }, [attempt])
  const retry = () => {
    setTrouble(undefined)
    setAttempt(attempt + 1)
  }
  const { singular, plural } = kinds[name]
  const records = (count: number) => `${formatNumber(count)} ${count === 1 ? singular : plural.toLowerCase()}`
  return (
    <Dialog title={`Export ${plural.toLowerCase()}`} onClose={onClose}>
      {trouble === undefined ? (
        <div className="section">
          {made ? (
            <output>
              {records(made.records)} {made.records === 1 ? 'is' : 'are'} in <strong>{fileName}</strong>, as they were
              at one moment.
            </output>
          ) : (
            <>
              <progress className="progress" aria-label="Export" {...shareOf(progress)} />
              <output>{wordsOf(progress, records)}</output>
            </>
          )}
          <p className="muted small">
            All columns of what the filters leave, in order of arrival, for Excel and other spreadsheets: texts that
            look like formulas begin with an apostrophe.
          </p>
        </div>
      ) : trouble instanceof TooManyFound ? (
        <p role="alert">
          A search that finds more than {trouble.most} {plural.toLowerCase()} cannot be exported. Add a word, or use
          filters in place of the search.
        </p>
      ) : (
        <Trouble error={trouble} onRetry={retry} />
      )}
      <div className="dialog-actions">
        {made && (
          <button type="button" className="button" onClick={() => saveFile(made.content, fileName)}>
            Save again
          </button>
        )}
        <button type="button" className={made ? 'button primary' : 'button'} onClick={onClose}>
          {made || trouble !== undefined ? 'Close' : 'Cancel'}
        </button>
      </div>
    </Dialog>
  )
}

/** A bar without a value says that nobody knows. */
const shareOf = (progress: Progress): { value?: number; max?: number } => {
  if (progress.step === 'writing' && progress.expected !== null)
    return { value: progress.records, max: Math.max(1, progress.expected) }
  if (progress.step === 'loading') return { value: progress.bytes, max: Math.max(1, progress.of) }
  return {}
}

const wordsOf = (progress: Progress, records: (count: number) => string): string => {
  switch (progress.step) {
    case 'finding':
      return 'Looking for them …'
    case 'waiting':
      return 'Waiting for other exports …'
    case 'writing':
      return `${records(progress.records)} so far …`
    case 'loading':
      return 'Downloading …'
  }
}
