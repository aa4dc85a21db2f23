import { Field, type FieldProps } from './field.tsx'
import { formatNumber } from './formats.ts'

type TextFieldProps = FieldProps & {
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'date' | 'datetime-local' | 'password'
  inputMode?: 'text' | 'email' | 'tel' | 'url' | 'numeric' | undefined
  autoComplete?: 'off' | 'current-password' | 'new-password'
  /** Of several lines. */
  isLong?: boolean
  /** In characters. What is longer is not cut off: whoever pastes it is told. */
  longest?: number | undefined
  placeholder?: string
}

export const TextField = ({
  value,
  onChange,
  type = 'text',
  inputMode,
  // What a browser remembers of its user is not about this record.
  autoComplete = 'off',
  isLong = false,
  longest,
  placeholder,
  ...field
}: TextFieldProps) => (
  <Field {...field} isWide={field.isWide ?? isLong} note={!field.error && <Room text={value} longest={longest} />}>
    {(control) => {
      const shared = {
        ...control,
        className: 'input',
        value,
        placeholder,
        autoComplete,
        onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
      }
      return isLong ? <textarea {...shared} rows={5} /> : <input {...shared} type={type} inputMode={inputMode} />
    }}
  </Field>
)

/** Of no interest while there is plenty. */
const plenty = 0.8

const Room = ({ text, longest }: { text: string; longest: number | undefined }) => {
  if (longest === undefined || text.length <= longest * plenty) return null
  // As the service counts: a character may take two places of a text.
  const left = longest - [...text].length
  return (
    <p className={left < 0 ? 'field-error' : 'field-help'} aria-live="polite">
      {left < 0 ? `Too long by ${formatNumber(-left)}` : `Room for ${formatNumber(left)} more`}
    </p>
  )
}
