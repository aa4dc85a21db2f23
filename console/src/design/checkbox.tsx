import './form.css'
import { useId } from 'react'
import type { FieldProps } from './field.tsx'

type CheckboxProps = Pick<FieldProps, 'label' | 'help' | 'error'> & {
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

export const Checkbox = ({ label, help, error, isChecked, onChange }: CheckboxProps) => {
  const id = useId()
  const told = error ?? help
  return (
    <div className="field">
      <label className="checkbox" htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          checked={isChecked}
          aria-invalid={error !== undefined}
          aria-describedby={told ? `${id}-told` : undefined}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      {told && (
        <p id={`${id}-told`} className={error ? 'field-error' : 'field-help indented'}>
          {told}
        </p>
      )}
    </div>
  )
}
