import { useId } from 'react'

/** How far something is; without an end where nobody knows how much there is. */
export const RunProgress = ({ label, done, of }: { label: string; done: number; of: number }) => {
  const id = useId()
  const isKnown = of > 0
  return (
    <div className="form">
      <label htmlFor={id}>
        {label}
        {isKnown && <span className="muted"> {Math.floor((100 * done) / of)} %</span>}
      </label>
      <progress id={id} className="progress" {...(isKnown && { value: done, max: of })} />
    </div>
  )
}
