import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from 'react'

type MenuProps = {
  /** What the button shows. */
  button: ReactNode
  /** What the button is called, where what it shows does not say so. */
  label?: string
  buttonClass?: string
  /** Where the panel opens, seen from the button. */
  opens?: 'down' | 'up' | 'down start'
  /** Gets a function that closes it. */
  children: (close: () => void) => ReactNode
}

const panelClasses = { down: 'menu-panel', up: 'menu-panel up start', 'down start': 'menu-panel start' }

/** A button that opens a panel; Esc, a click elsewhere and leaving it by Tab close it. */
export const Menu = ({ button, label, buttonClass = 'button', opens = 'down', children }: MenuProps) => {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const place = useRef<HTMLDivElement>(null)
  const trigger = useRef<HTMLButtonElement>(null)
  /** Who chose something, or gave up, goes on at the button. */
  const close = useCallback(() => {
    setOpen(false)
    trigger.current?.focus()
  }, [])
  useEffect(() => {
    if (!isOpen) return
    const closeOutside = (event: Event) => {
      if (!(event.target instanceof Node && place.current?.contains(event.target))) setOpen(false)
    }
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      close()
    }
    const element = place.current
    document.addEventListener('pointerdown', closeOutside)
    document.addEventListener('focusin', closeOutside)
    element?.addEventListener('keydown', closeByKey)
    return () => {
      document.removeEventListener('pointerdown', closeOutside)
      document.removeEventListener('focusin', closeOutside)
      element?.removeEventListener('keydown', closeByKey)
    }
  }, [isOpen, close])
  return (
    <div className="menu" ref={place}>
      <button
        type="button"
        ref={trigger}
        className={buttonClass}
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      <div id={id} className={`${panelClasses[opens]} fades-in`} hidden={!isOpen}>
        {isOpen && children(close)}
      </div>
    </div>
  )
}
