import { mostCounted, pageSizes } from '@masthead/contract'
import { Link, type Parameters, useSetParameters } from '../address.tsx'
import { formatNumber } from '../design/formats.ts'
import { NextIcon, PreviousIcon } from '../design/icons.tsx'
import { useKeys } from '../design/keys.tsx'
import type { Path } from '../paths.ts'
import { firstPage, offeredPageSizes } from '../records/filters.ts'
import type { RecordPage } from '../records/queries.ts'

/** First, last, and those around the current one; null where some are left out. */
const pageNumbers = (page: number, last: number): (number | null)[] => {
  const shown = [...new Set([1, page - 1, page, page + 1, last])].filter((one) => one >= 1 && one <= last)
  return shown
    .sort((one, other) => one - other)
    .flatMap((one, index, all) => (index > 0 && one - (all[index - 1] ?? 0) > 1 ? [null, one] : [one]))
}

type PaginationProps = {
  list: Path
  parameters: Parameters
  shown: RecordPage
  /** The next page is reached by the link of the response; numbers do not reach all of the list. */
  isWalked: boolean
}

export const Pagination = ({ list, parameters, shown, isWalked }: PaginationProps) => {
  const { page, pageSize, total, nextCursor } = shown
  const setParameters = useSetParameters()
  const last = total === null ? null : Math.max(Math.ceil(total / pageSize), 1)
  const at = (to: number): Parameters => ({ ...parameters, ...firstPage, page: to === 1 ? undefined : String(to) })
  const next =
    nextCursor === null ? null : isWalked ? { ...parameters, ...firstPage, cursor: nextCursor } : at(page + 1)
  // As the responses have it: pages that no number reaches have no link to the one before.
  const reached = isWalked ? Math.ceil(mostCounted / pageSize) : Number.POSITIVE_INFINITY
  const previous = page > 1 ? at(Math.min(page - 1, last ?? reached, reached)) : null
  const isBeyond = page - 1 > reached
  useKeys({
    n: next ? () => setParameters(next) : undefined,
    p: previous ? () => (isBeyond ? history.back() : setParameters(previous)) : undefined,
  })
  const step = (to: Parameters | null, label: string, icon: React.ReactNode) =>
    to ? (
      <Link to={list} parameters={to} className="page-number" aria-label={label}>
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
        {rangeOf(shown, parameters.cursor !== undefined)}
      </p>
      <nav aria-label="Pages">
        <ol>
          <li>
            {isBeyond ? (
              <Link to={list} parameters={at(1)} className="page-number">
                First page
              </Link>
            ) : (
              step(previous, 'Previous page', <PreviousIcon />)
            )}
          </li>
          {(last === null ? [page] : pageNumbers(page, Math.max(page, last))).map((one, index) => (
            <li key={one ?? `gap ${index}`}>
              {one === null ? (
                <span className="muted">…</span>
              ) : (
                <Link
                  to={list}
                  parameters={one === page ? parameters : at(one)}
                  className="page-number"
                  aria-label={`Page ${formatNumber(one)}`}
                  {...(one === page && { 'aria-current': 'page' })}
                >
                  {formatNumber(one)}
                </Link>
              )}
            </li>
          ))}
          <li>{step(next, 'Next page', <NextIcon />)}</li>
        </ol>
      </nav>
      <label className="page-size muted">
        Rows
        <select
          className="select"
          value={pageSize}
          onChange={({ target: { value } }) =>
            setParameters({ ...firstPage, pageSize: value === String(pageSizes.default) ? undefined : value })
          }
        >
          {offeredPageSizes.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
    </div>
  )
}

const rangeOf = ({ items, page, pageSize, total }: RecordPage, isByCursor: boolean): string => {
  const of = total === null ? `more than ${formatNumber(mostCounted)}` : formatNumber(total)
  // A page by cursor may hold fewer records than fit, so nobody knows how many came before it.
  if (isByCursor && total === null) return `Page ${formatNumber(page)}, of ${of}`
  if (items.length === 0) return `None of ${of}`
  const first = (page - 1) * pageSize + 1
  return `${formatNumber(first)} to ${formatNumber(first + items.length - 1)} of ${of}`
}
