import type { ImportRun } from '@masthead/client/management'
import { type ReactNode, useId } from 'react'

type RunProgressProps = { label: string; done: number; of: number; children?: ReactNode }

/** How far something is; without an end where nobody knows how much there is. */
export const RunProgress = ({ label, done, of, children }: RunProgressProps) => {
  const id = useId()
  const isKnown = of > 0
  return (
    <div className="form">
      <label htmlFor={id}>
        {label}
        {isKnown && <span className="muted"> {Math.floor((100 * done) / of)} %</span>}
      </label>
      <progress id={id} className="progress" {...(isKnown && { value: done, max: of })} />
      {children}
    </div>
  )
}

const stepWords = {
  reading: 'Reading the file',
  judging: 'Comparing it with what is there',
  writing: 'Writing records',
  undoing: 'Taking records back',
}

export const progressOf = ({ progress }: ImportRun) => ({
  label: stepWords[progress?.step ?? 'reading'],
  done: progress?.done ?? 0,
  of: progress?.of ?? 0,
})
