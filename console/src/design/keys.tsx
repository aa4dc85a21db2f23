import { type KeyboardEvent as KeyPress, useEffect, useState } from 'react'
import { Dialog } from './dialog.tsx'

const setting = 'masthead.keys'
/** WCAG 2.1.4: shortcuts of a single character can be turned off. */
const areOn = (): boolean => localStorage.getItem(setting) !== 'off'

/** Keys mean something else there, but not in the boxes by which rows are chosen. */
const hasItsOwnKeys = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not(.choose input), textarea, select'))

/** Whether a key chooses characters of another script. Safari tells so of the one that confirms them by its code alone. */
export const isComposing = ({ nativeEvent }: KeyPress): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229

/** Acts on keys that are pressed anywhere but where something is typed or a dialog is open. */
export const useKeys = (actions: Readonly<Record<string, (() => void) | undefined>>): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = actions[event.key]
      if (!action || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (hasItsOwnKeys(event.target) || document.querySelector('dialog[open]')) return
      if (event.key.length === 1 && !areOn()) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  })
}

const explained = [
  [['/', 'Ctrl K', '⌘ K'], 'Search everything'],
  [['j', '↓'], 'Next row'],
  [['k', '↑'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['n'], 'Next page of a list'],
  [['p'], 'Previous page of a list'],
  [['Esc'], 'Close'],
  [['?'], 'Show these keys'],
] as const

export const KeysHelp = ({ onClose }: { onClose: () => void }) => {
  const [isOn, setOn] = useState(areOn)
  const turn = (on: boolean) => {
    localStorage.setItem(setting, on ? 'on' : 'off')
    setOn(on)
  }
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {explained.map(([keys, meaning]) => (
          <div key={meaning} className="keys-row">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label className="checkbox">
        <input type="checkbox" checked={isOn} onChange={(event) => turn(event.target.checked)} />
        Use keys of a single letter
      </label>
    </Dialog>
  )
}
