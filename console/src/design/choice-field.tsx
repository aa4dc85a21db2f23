import './form.css'
import './choice-field.css'
import { type ReactNode, useId } from 'react'
import type { FieldProps } from './field.tsx'

export type Choice<V extends string> = {
  value: V
  label: ReactNode
  help?: ReactNode
  isDisabled?: boolean
}
type ChoiceFieldProps<V extends string> = Pick<FieldProps, 'label' | 'error'> & {
  choices: readonly Choice<V>[]
  chosen: readonly V[]
  onChange: (chosen: V[]) => void
  /** Exactly one of them. */
  isSingle?: boolean
}

/** Choices that all are seen, each with what it means. */
export const ChoiceField = <V extends string>(props: ChoiceFieldProps<V>) => {
  const { label, error, choices, chosen, onChange, isSingle = false } = props
  const id = useId()
  const choose = (value: V, isOn: boolean) => {
    if (isSingle) onChange([value])
    // In the order in which they are offered.
    else
      onChange(choices.flatMap((one) => ((one.value === value ? isOn : chosen.includes(one.value)) ? one.value : [])))
  }
  return (
    <fieldset className="bare field choices" aria-describedby={error ? `${id}-error` : undefined}>
      <legend className="field-label">{label}</legend>
      {choices.map(({ value, label, help, isDisabled = false }) => (
        <label key={value} className="choice-line" data-disabled={isDisabled}>
          <input
            type={isSingle ? 'radio' : 'checkbox'}
            name={id}
            checked={chosen.includes(value)}
            disabled={isDisabled}
            aria-invalid={error !== undefined}
            onChange={({ target }) => choose(value, target.checked)}
          />
          <span>
            {label}
            {help && <small>{help}</small>}
          </span>
        </label>
      ))}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </fieldset>
  )
}
