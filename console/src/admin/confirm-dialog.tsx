import '../design/form.css'
import type { ReactNode } from 'react'
import { Question } from '../design/question.tsx'
import { Trouble } from '../design/states.tsx'
import { useSubmission } from '../forms/submission.ts'

type ConfirmDialogProps = {
  title: string
  /** What the button says that does it. */
  action: string
  /** Does it, and brings what is shown up to date. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  /** What follows from it. */
  children: ReactNode
}

/** Asks before it does something, and tells when that cannot be done. */
export const ConfirmDialog = ({ title, action, onConfirm, onClose, children }: ConfirmDialogProps) => {
  const { isBusy, error, send } = useSubmission()
  const confirm = async () => {
    const done = await send({}, async () => {
      await onConfirm()
      return true
    })
    if (done) onClose()
  }
  return (
    <Question title={title} isBusy={isBusy} yes={action} no="Cancel" onYes={confirm} onNo={onClose}>
      {children}
      {error !== undefined && <Trouble error={error} />}
    </Question>
  )
}
