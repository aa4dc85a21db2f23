import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'

type QuestionProps = {
  title: string
  /** What the buttons say. */
  yes: string
  no: string
  onYes: () => void
  onNo: () => void
  /** The answer is being acted upon. */
  isBusy?: boolean
  children: ReactNode
}

/** Asks before something that hurts. */
export const Question = ({ title, yes, no, onYes, onNo, isBusy = false, children }: QuestionProps) => (
  <Dialog title={title} onClose={onNo}>
    {children}
    <div className="dialog-actions">
      <button type="button" className="button" onClick={onNo}>
        {no}
      </button>
      <button type="button" className="button danger" aria-disabled={isBusy} onClick={() => isBusy || onYes()}>
        {yes}
      </button>
    </div>
  </Dialog>
)
