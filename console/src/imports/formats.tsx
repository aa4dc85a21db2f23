import { formatNumber } from '../design/formats.ts'
import { Select } from '../design/select.tsx'
import { TableHead } from '../design/table-head.tsx'
import type { Decisions, OptionChange } from './decisions.ts'
import { fieldLabel } from './field-label.ts'
import type { Inspection } from './runs.ts'

type Format = Inspection['formats'][number]
type Option = Exclude<Format['option'], ''>

const labels: Record<Option, string> = {
  dates: 'Dates such as 01/02/2026',
  decimal: 'Numbers such as 1.234',
  timeZone: 'Time zone of times without one',
  epoch: 'Instants as numbers',
}

const values: Record<Exclude<Option, 'timeZone'>, readonly (readonly [string, string])[]> = {
  dates: [
    ['dmy', 'The day first'],
    ['mdy', 'The month first'],
  ],
  decimal: [
    ['comma', 'A comma precedes decimals'],
    ['point', 'A point precedes decimals'],
  ],
  epoch: [
    ['seconds', 'Seconds since 1970'],
    ['milliseconds', 'Milliseconds since 1970'],
  ],
}

const here = Intl.DateTimeFormat().resolvedOptions().timeZone
const timeZones: readonly (readonly [string, string])[] = [
  ...new Set([here, 'UTC', ...Intl.supportedValuesOf('timeZone')]),
].map((zone) => [zone, zone.replaceAll('_', ' ')])

const optionOrder: readonly Option[] = ['dates', 'decimal', 'timeZone', 'epoch']

type FormatsProps = { inspection: Inspection; decisions: Decisions }

/** How values are written, where it is not as the API writes them; what is in doubt is asked. */
export const Formats = ({ inspection: { formats }, decisions: { options, decide } }: FormatsProps) => {
  if (formats.length === 0) return null
  const asked = optionOrder.filter((option) => formats.some((format) => format.option === option))
  return (
    <section className="card" aria-labelledby="import-formats">
      <div className="table-head">
        <h2 id="import-formats">Formats</h2>
      </div>
      {asked.length > 0 && (
        <div className="form-grid section-form">
          {asked.map((option) => (
            <Select
              key={option}
              label={labels[option]}
              error={isInDoubt(formats, option) ? 'The values leave it open: choose.' : undefined}
              value={options[option] ?? ''}
              onChange={(value) => decide(optionOf(option, value))}
              options={[
                ['', isInDoubt(formats, option) ? 'Choose …' : 'As noticed'],
                ...(option === 'timeZone' ? timeZones : values[option]).map(
                  ([value, label]) => [value, withExample(formats, option, value, label)] as const,
                ),
              ]}
            />
          ))}
        </div>
      )}
      <table className="records plain">
        <caption className="visually-hidden">How values are written</caption>
        <TableHead columns={['Field', 'Column', 'Written as', { amount: 'Values' }]} />
        <tbody>
          {formats.map(({ field, heading, format, option, fits, values }) => (
            <tr key={`${field} ${heading}`}>
              <td>
                <strong className="row-title">{fieldLabel(field)}</strong>
              </td>
              <td data-label="Column">{heading}</td>
              <td data-label="Written as">
                {format || (option === '' ? 'not as this field can be read' : 'in doubt')}
              </td>
              <td data-label="Values" className="end">
                {formatNumber(fits)} of {formatNumber(values)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const isInDoubt = (formats: readonly Format[], option: Option): boolean =>
  formats.some((format) => format.option === option && format.format === '')

/** What the first doubtful value would become. */
const withExample = (formats: readonly Format[], option: Option, value: string, label: string): string => {
  const choices = formats.filter((format) => format.option === option).flatMap(({ choices }) => choices)
  const example = choices.find((choice) => choice.value === value)?.example
  return example === undefined ? label : `${label}: ${example}`
}

const optionOf = (option: Option, value: string): OptionChange => {
  if (option === 'timeZone') return { timeZone: value || undefined }
  if (option === 'dates') return { dates: value === 'dmy' || value === 'mdy' ? value : undefined }
  if (option === 'decimal') return { decimal: value === 'comma' || value === 'point' ? value : undefined }
  return { epoch: value === 'seconds' || value === 'milliseconds' ? value : undefined }
}
