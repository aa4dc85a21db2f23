import { type KeyboardEvent, useState } from 'react'
import { Field, type FieldProps } from './field.tsx'
import { isComposing } from './keys.tsx'

export type Option = { value: string; label: string; detail?: string }

type ComboboxProps = FieldProps & {
  text: string
  onText: (text: string) => void
  options: readonly Option[]
  onChoose: (option: Option) => void
  /** The box has lost the focus. */
  onLeave?: () => void
  placeholder?: string
  /** Said while it is open: that something is searched, or that nothing was found. */
  status: string
  /** Below the box. */
  note?: React.ReactNode
}

/** A box that offers what fits the words in it (the combobox of the ARIA practices, with a list). */
export const Combobox = (props: ComboboxProps) => {
  const { text, onText, options, onChoose, onLeave, placeholder, status, note, ...field } = props
  const [isOpen, setOpen] = useState(false)
  const [wanted, setAt] = useState(0)
  const at = Math.min(wanted, options.length - 1)
  const active = options[at]
  const choose = (option: Option) => {
    setOpen(false)
    onChoose(option)
  }
  const move = (step: number) => {
    if (!isOpen) setOpen(true)
    else if (options.length > 0) setAt((at + step + options.length) % options.length)
  }
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const isStep = event.key === 'ArrowDown' || event.key === 'ArrowUp'
    if (isStep) move(event.key === 'ArrowDown' ? 1 : -1)
    else if (event.key === 'Enter' && isOpen && active) choose(active)
    else if (event.key === 'Escape' && isOpen) setOpen(false)
    else return
    event.preventDefault()
  }
  return (
    <Field {...field} note={note}>
      {(control) => (
        <div className="combobox">
          <input
            {...control}
            className="input"
            role="combobox"
            aria-expanded={isOpen}
            aria-autocomplete="list"
            aria-controls={`${control.id}-options`}
            aria-activedescendant={isOpen && active ? `${control.id}-${at}` : undefined}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ target }) => {
              setOpen(true)
              setAt(0)
              onText(target.value)
            }}
            onKeyDown={press}
            onBlur={() => {
              setOpen(false)
              onLeave?.()
            }}
          />
          <div
            id={`${control.id}-options`}
            className="options"
            role="listbox"
            aria-label={field.label}
            hidden={!isOpen || options.length === 0}
          >
            {(isOpen ? options : []).map((option, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys act on the box, which keeps the focus
              <div
                key={option.value}
                id={`${control.id}-${index}`}
                className="option"
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                // Who moves by keys sees where.
                ref={index === at ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(option)}
              >
                <bdi>{option.label}</bdi>
                {option.detail && <bdi className="muted small">{option.detail}</bdi>}
              </div>
            ))}
          </div>
          <output className={isOpen && options.length === 0 && status ? 'options option muted' : 'visually-hidden'}>
            {isOpen ? status : ''}
          </output>
        </div>
      )}
    </Field>
  )
}
