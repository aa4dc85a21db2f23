import { useId, useState } from 'react'
import { type Parameters, useSetParameters } from '../address.tsx'
import { type Filter, firstPage, type Range } from '../records/filters.ts'
import { isPeriod, labelOfPeriod, periodsOfChanges, periodsOfDays } from '../records/periods.ts'

type RangeChoiceProps = { filter: Filter; range: Range; parameters: Parameters }

/** Days around a date: by the name of a period, or the first and the last one. */
export const RangeChoice = ({
  filter: { name, label, description, parameters: own },
  range,
  parameters,
}: RangeChoiceProps) => {
  const setParameters = useSetParameters()
  const id = useId()
  const { from, to, isInstant, overdue } = range
  const hasDays = Boolean(parameters[from] || parameters[to])
  const [isAsked, setAsked] = useState(false)
  const isCustom = hasDays || isAsked
  const set = (changes: Parameters) => setParameters({ ...changes, ...firstPage }, { replace: true })
  const choose = (value: string) => {
    setAsked(value === custom)
    if (value === custom && hasDays) return
    const nothing = Object.fromEntries(own.map((parameter) => [parameter, undefined]))
    if (overdue && (value === late || value === notLate)) set({ ...nothing, [overdue]: String(value === late) })
    else set({ ...nothing, ...(isPeriod(value) && { [name]: value }) })
  }
  return (
    <>
      <div className="field">
        <label htmlFor={id}>{label}</label>
        <select
          id={id}
          className="select"
          title={description}
          value={chosenOf(name, range, parameters, isCustom)}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">Any time</option>
          {overdue && <option value={late}>Overdue</option>}
          {overdue && <option value={notLate}>Not overdue</option>}
          {(isInstant ? periodsOfChanges : periodsOfDays).map((period) => (
            <option key={period} value={period}>
              {labelOfPeriod(period)}
            </option>
          ))}
          <option value={custom}>From … to …</option>
        </select>
      </div>
      {isCustom && (
        <fieldset className="bare days">
          <legend className="visually-hidden">{label}</legend>
          <Day
            label="From"
            value={parameters[from] ?? ''}
            onChange={(day) => set({ [name]: undefined, [from]: day })}
          />
          <Day label="To" value={parameters[to] ?? ''} onChange={(day) => set({ [name]: undefined, [to]: day })} />
        </fieldset>
      )}
    </>
  )
}

const custom = 'custom'
const late = 'overdue'
const notLate = 'not-overdue'

const chosenOf = (name: string, { overdue }: Range, parameters: Parameters, isCustom: boolean): string => {
  const period = parameters[name]
  if (isCustom) return custom
  if (isPeriod(period)) return period
  const overdueText = overdue && parameters[overdue]
  return overdueText ? (overdueText === 'true' ? late : notLate) : ''
}

const Day = ({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (day: string | undefined) => void
}) => {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="date"
        className="input"
        max="9999-12-31"
        value={value}
        onChange={({ target }) => onChange(target.value || undefined)}
      />
    </div>
  )
}
