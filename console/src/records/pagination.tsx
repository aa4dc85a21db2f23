import { Link, type Parameters, useSetParameters } from '../address.tsx'
import { NextIcon, PreviousIcon } from '../design/icons.tsx'
import { useKeys } from '../design/keys.tsx'
import type { Path } from '../paths.ts'
import { pageSizes, usualPageSize } from './filters.ts'
import { formatNumber } from './formats.ts'
import type { RecordPage } from './queries.ts'

/** First, last, and those around the current one; null where some are left out. */
export const pageNumbers = (page: number, last: number): (number | null)[] => {
  const shown = [...new Set([1, page - 1, page, page + 1, last])].filter((one) => one >= 1 && one <= last)
  return shown
    .sort((one, other) => one - other)
    .flatMap((one, index, all) => (index > 0 && one - (all[index - 1] ?? 0) > 1 ? [null, one] : [one]))
}

type PaginationProps = { list: Path; parameters: Parameters; shown: RecordPage }

export const Pagination = ({ list, parameters, shown: { items, page, pageSize, total } }: PaginationProps) => {
  const setParameters = useSetParameters()
  const last = total === null ? null : Math.max(Math.ceil(total / pageSize), 1)
  const hasNext = last === null ? items.length === pageSize : page < last
  const at = (to: number): Parameters => ({ ...parameters, page: to === 1 ? undefined : String(to) })
  useKeys({
    n: hasNext ? () => setParameters(at(page + 1)) : undefined,
    p: page > 1 ? () => setParameters(at(page - 1)) : undefined,
  })
  const step = (to: number, isPossible: boolean, label: string, icon: React.ReactNode) =>
    isPossible ? (
      <Link to={list} parameters={at(to)} className="page-number" aria-label={label}>
        {icon}
      </Link>
    ) : (
      <span className="page-number" aria-disabled="true">
        {icon}
      </span>
    )
  return (
    <div className="pages">
      <p className="muted number" aria-live="polite">
        {rangeOf(items.length, page, pageSize, total)}
      </p>
      <nav aria-label="Pages">
        <ol>
          <li>{step(page - 1, page > 1, 'Previous page', <PreviousIcon />)}</li>
          {(last === null ? [page] : pageNumbers(page, last)).map((one, index) => (
            <li key={one ?? `gap ${index}`}>
              {one === null ? (
                <span className="muted">…</span>
              ) : (
                <Link
                  to={list}
                  parameters={at(one)}
                  className="page-number"
                  aria-label={`Page ${formatNumber(one)}`}
                  {...(one === page && { 'aria-current': 'page' })}
                >
                  {formatNumber(one)}
                </Link>
              )}
            </li>
          ))}
          <li>{step(page + 1, hasNext, 'Next page', <NextIcon />)}</li>
        </ol>
      </nav>
      <label className="page-size muted">
        Rows
        <select
          className="select"
          value={pageSize}
          onChange={({ target: { value } }) =>
            setParameters({ page: undefined, pageSize: value === String(usualPageSize) ? undefined : value })
          }
        >
          {pageSizes.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
    </div>
  )
}

const rangeOf = (count: number, page: number, pageSize: number, total: number | null): string => {
  const of = total === null ? 'more than 10,000' : formatNumber(total)
  if (count === 0) return `None of ${of}`
  const first = (page - 1) * pageSize + 1
  return `${formatNumber(first)} to ${formatNumber(first + count - 1)} of ${of}`
}
