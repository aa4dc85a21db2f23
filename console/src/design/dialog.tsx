import { type ReactNode, useEffect, useId, useRef } from 'react'
import { CloseIcon } from './icons.tsx'

type DialogProps = {
  title: string
  /** For what has long lines. */
  isWide?: boolean
  onClose: () => void
  /** Only what it holds closes it: neither Esc nor a button of its own. */
  isHeld?: boolean
  children: ReactNode
}

/** Modal: it keeps the focus, and Esc closes it unless it is held. */
export const Dialog = ({ title, isWide = false, isHeld = false, onClose, children }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      // Who used it goes on where they were, or at the begin of the page when that is gone.
      if (document.activeElement !== document.body) return
      const place = before?.isConnected ? before : document.getElementById('main')
      if (place instanceof HTMLElement) place.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={element}
      className={isWide ? 'dialog wide fades-in' : 'dialog fades-in'}
      aria-labelledby={titleId}
      // A browser that does not know it asks before it closes, and closes without asking when Esc is pressed twice.
      closedby={isHeld ? 'none' : 'closerequest'}
      // The event `close` comes after the dialog is gone, and a request to open it again in between would be lost.
      onCancel={(event) => (isHeld ? event.preventDefault() : onClose())}
      onClose={() => (isHeld ? element.current?.showModal() : onClose())}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {!isHeld && (
          <button type="button" className="button quiet square" aria-label="Close" onClick={onClose}>
            <CloseIcon />
          </button>
        )}
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  )
}
