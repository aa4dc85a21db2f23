import './charts.css'
import { Link, type Parameters } from '../address.tsx'
import { formatNumber, formatShortly } from '../design/formats.ts'
import type { Path } from '../paths.ts'

/** What a column stands for, and the filters of the list that it counts. */
export type Column = { key: string; label: string; fullLabel: string; count: number; parameters: Parameters }

type ColumnsProps = { caption: string; to: Path; columns: readonly Column[] }

/** Standing bars, side by side, as months are. Each leads to what it counts. */
export const Columns = ({ caption, to, columns }: ColumnsProps) => {
  const most = Math.max(1, ...columns.map(({ count }) => count))
  return (
    <ul className="columns" aria-label={caption}>
      {columns.map(({ key, label, fullLabel, count, parameters }) => {
        const height = (count / most) * 100
        const words = `${fullLabel}: ${formatNumber(count)}`
        return (
          <li key={key}>
            <Link to={to} parameters={parameters} className="column" title={words}>
              <span className="visually-hidden">{words}</span>
              <span className="column-value number" aria-hidden="true">
                {formatShortly(count)}
              </span>
              <svg className="column-line" aria-hidden="true" focusable="false">
                <rect className="fill" y={`${100 - height}%`} width="100%" height={`${height}%`} rx="2" />
              </svg>
              <span className="column-label" aria-hidden="true">
                {label}
              </span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
