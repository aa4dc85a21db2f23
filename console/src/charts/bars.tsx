import './charts.css'
import type { ReactNode } from 'react'
import type { Tone } from '../design/badge.tsx'

type Bar = {
  key: string
  /** A link to what the bar counts. */
  label: ReactNode
  /** How long it is, from 0 to 1. */
  share: number
  /** How much of it stands out, from 0 to its share. */
  part?: number
  value: string
  /** What else there is to say about it. */
  detail?: string
  tone?: Tone | undefined
}

type BarsProps = {
  /** What the bars show, and what their columns are called, for who does not see them. */
  caption: string
  head: readonly [string, string]
  bars: readonly Bar[]
}

/** Lying bars. It is a table, so who does not see the bars reads it as one. */
export const Bars = ({ caption, head, bars }: BarsProps) => (
  <table className="bars">
    <caption className="visually-hidden">{caption}</caption>
    <thead className="visually-hidden">
      <tr>
        {head.map((text) => (
          <th key={text} scope="col">
            {text}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {bars.map(({ key, label, share, part, value, detail, tone }) => (
        <tr key={key}>
          <th scope="row">{label}</th>
          <td className="number">
            {value}
            {detail && <span className="muted small"> {detail}</span>}
            <svg className={`bar-line ${tone ?? ''}`} aria-hidden="true" focusable="false">
              <rect
                className={part === undefined ? 'fill' : 'fill faint'}
                width={percent(share)}
                height="100%"
                rx="2"
              />
              {part !== undefined && <rect className="fill" width={percent(part)} height="100%" rx="2" />}
            </svg>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const percent = (share: number): string => `${Math.max(0, share) * 100}%`
