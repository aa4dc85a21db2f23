import { Field, type FieldProps } from './field.tsx'

type SelectProps = FieldProps & {
  value: string
  onChange: (value: string) => void
  /** Values with what they are called. */
  options: readonly (readonly [string, string])[]
}

export const Select = ({ value, onChange, options, ...field }: SelectProps) => (
  <Field {...field}>
    {(control) => (
      <select {...control} className="select" value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Field>
)
