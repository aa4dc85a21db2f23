import '../design/form.css'
import '../design/choice-field.css'
import { isProblem } from '@masthead/client'
import { type ReactNode, useEffect, useRef } from 'react'
import { Dialog } from '../design/dialog.tsx'
import { Trouble } from '../design/states.tsx'
import type { Draft } from './draft.ts'
import { DraftNote } from './draft-note.tsx'

type FormDialogProps = {
  title: string
  /** What the button says that sends it. */
  action: string
  isBusy: boolean
  /** What went wrong, where no field of the form tells it. */
  trouble?: unknown
  /** Told in its place when what was made is shown only once, and got lost on the way. */
  lost?: ReactNode
  /** Moves the focus to the first field that is wrong, whenever it is another. */
  refusal?: unknown
  /** Outlives the dialog, unless it is cancelled. */
  draft?: Draft
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}

/** A short form, beside what it is about. */
export const FormDialog = (props: FormDialogProps) => {
  const { title, action, isBusy, trouble, lost, refusal, draft, onSubmit, onClose, children } = props
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const first = form.current?.querySelector<HTMLElement>('input:enabled, textarea, select')
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid=true]')
    if (refusal === undefined) first?.focus()
    else wrong?.focus()
  }, [refusal])
  const isLost = lost !== undefined && isProblem(trouble, 'secret_shown_once')
  const cancel = () => {
    draft?.forget()
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) onSubmit()
        }}
      >
        {draft && <DraftNote draft={draft} />}
        {children}
        {isLost ? lost : trouble !== undefined && <Trouble error={trouble} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={cancel}>
            Cancel
          </button>
          <button type="submit" className="button primary" aria-disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
