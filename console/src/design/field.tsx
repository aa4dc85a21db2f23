import './form.css'
import { type ReactNode, useId } from 'react'

/** What every control of a form has. */
export type FieldProps = {
  label: string
  /** Says more than the label. */
  help?: string | undefined
  /** What is wrong with what it holds. */
  error?: string | undefined
  isRequired?: boolean
  /** Takes the whole width of the form. */
  isWide?: boolean
}

/** What the control itself must carry, so that it is known by its label, its help and its fault. */
type ControlProps = {
  id: string
  required: boolean
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}

type FieldFrameProps = FieldProps & {
  /** Below the control, as how much may still be typed. */
  note?: ReactNode
  children: (control: ControlProps) => ReactNode
}

/** A label, a control, and what is to be said about it. */
export const Field = ({ label, help, error, isRequired = false, isWide = false, note, children }: FieldFrameProps) => {
  const id = useId()
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={isWide ? 'field wide' : 'field'}>
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {isRequired && (
          <span className="field-required" aria-hidden="true">
            required
          </span>
        )}
      </div>
      {children({
        id,
        required: isRequired,
        'aria-invalid': error !== undefined,
        'aria-describedby': described || undefined,
      })}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
      {note}
      {help && (
        <p id={`${id}-help`} className="field-help">
          {help}
        </p>
      )}
    </div>
  )
}
