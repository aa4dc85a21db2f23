import { type ReactNode, useId } from 'react'

type SegmentsProps<V extends string> = {
  /** What is chosen, told to who does not see it. */
  legend: string
  /** Values with what they are called. */
  options: readonly (readonly [V, ReactNode])[]
  value: V
  onChange: (value: V) => void
}

/** A choice of few, all in one line. */
export const Segments = <V extends string>({ legend, options, value, onChange }: SegmentsProps<V>) => {
  const name = useId()
  return (
    <fieldset className="segmented bare">
      <legend className="visually-hidden">{legend}</legend>
      {options.map(([one, label]) => (
        <label key={one}>
          <input type="radio" name={name} checked={value === one} onChange={() => onChange(one)} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
