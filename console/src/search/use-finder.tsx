import { useEffect, useState } from 'react'
import { useKeys } from '../design/keys.tsx'
import { Finder } from './finder.tsx'

/** The search over all records, by `/`, by Ctrl+K or ⌘K also where something is typed, and by whatever calls `open`. */
export const useFinder = () => {
  const [isOpen, setOpen] = useState(false)
  useKeys({ '/': () => setOpen(true) })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      // What is asked in another dialog comes first.
      if (!document.querySelector('dialog[open]')) setOpen(true)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return { finder: isOpen && <Finder onClose={() => setOpen(false)} />, open: () => setOpen(true) }
}

/** As the keyboard of the reader has it. */
export const finderKeys = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'
