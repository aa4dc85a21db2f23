import type { Field } from '@masthead/contract'
import { changedJoin, changedSplit, type Join, leftOut, type Split } from './column-choices.ts'
import type { Decisions } from './decisions.ts'
import { fieldLabel } from './field-label.ts'

const signs: readonly (readonly [string, string])[] = [
  [' ', 'a space'],
  [', ', 'a comma and a space'],
  [',', 'a comma'],
  [';', 'a semicolon'],
  ['-', 'a hyphen'],
  ['/', 'a slash'],
]
const nothing = ['', 'nothing'] as const
const lineEnd = ['\n', 'a line end'] as const

type SignProps = { label: string; value: string; among: typeof signs; onChange: (sign: string) => void }

const Sign = ({ label, value, among, onChange }: SignProps) => (
  <select className="select" aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
    {(among.some(([sign]) => sign === value) ? among : [...among, [value, `"${value}"`] as const]).map(
      ([sign, name]) => (
        <option key={sign} value={sign}>
          {name}
        </option>
      ),
    )}
  </select>
)

const mostParts = 4

type SplitPartsProps = { split: Split; fields: readonly Field[]; decisions: Decisions }

/** Which field each part of a column fills. */
export const SplitParts = ({ split, fields, decisions: { options, decide } }: SplitPartsProps) => {
  const { heading, into, at } = split
  const change = (next: Partial<Split>) => decide(changedSplit(options, { ...split, ...next }))
  return (
    <div className="column-parts">
      <span className="muted small">Split at</span>
      <Sign label={`Where to split ${heading}`} value={at} among={signs} onChange={(at) => change({ at })} />
      {into.map((field, index) => (
        <select
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name than their place
          key={index}
          className="select"
          aria-label={`Field of part ${index + 1} of ${heading}`}
          value={field ?? leftOut}
          onChange={({ target }) => change({ into: into.with(index, target.value === leftOut ? null : target.value) })}
        >
          <option value={leftOut}>Leave part {index + 1} out</option>
          {fields.map(({ name }) => (
            <option key={name} value={name}>
              {fieldLabel(name)}
            </option>
          ))}
        </select>
      ))}
      <span className="muted small">Of more parts, the first field gets the rest.</span>
      {into.length < mostParts && (
        <button type="button" className="link-button small" onClick={() => change({ into: [...into, null] })}>
          Add a part<span className="visually-hidden"> of {heading}</span>
        </button>
      )}
    </div>
  )
}

/** In which order columns make a field, and what stands between them. */
export const JoinedColumns = ({ join, decisions: { options, decide } }: { join: Join; decisions: Decisions }) => {
  const change = (next: Partial<Join>) => decide(changedJoin(options, { ...join, ...next }))
  return (
    <div className="column-parts">
      <span className="muted small">{join.of.join(' + ')}, with</span>
      <Sign
        label={`What stands between the parts of ${fieldLabel(join.field)}`}
        value={join.with}
        among={[...signs, lineEnd, nothing]}
        onChange={(sign) => change({ with: sign })}
      />
      <button type="button" className="link-button small" onClick={() => change({ of: join.of.toReversed() })}>
        The other way round
      </button>
    </div>
  )
}
