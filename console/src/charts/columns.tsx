import './charts.css'
import { formatNumber, formatShortly } from '../records/formats.ts'

export type Column = { key: string; label: string; fullLabel: string; count: number }

type ColumnsProps = {
  caption: string
  head: readonly [string, string]
  columns: readonly Column[]
}

/** Standing bars, side by side, as months are; and a table for who does not see them. */
export const Columns = ({ caption, head, columns }: ColumnsProps) => {
  const most = Math.max(1, ...columns.map(({ count }) => count))
  return (
    <>
      <div className="columns" aria-hidden="true">
        {columns.map(({ key, label, fullLabel, count }) => {
          const height = (count / most) * 100
          return (
            <div key={key} className="column" title={`${fullLabel}: ${formatNumber(count)}`}>
              <span className="column-value number">{formatShortly(count)}</span>
              <svg className="column-line" aria-hidden="true" focusable="false">
                <rect className="fill" y={`${100 - height}%`} width="100%" height={`${height}%`} rx="2" />
              </svg>
              <span className="column-label">{label}</span>
            </div>
          )
        })}
      </div>
      <table className="visually-hidden">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map(({ key, fullLabel, count }) => (
            <tr key={key}>
              <th scope="row">{fullLabel}</th>
              <td>{formatNumber(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
