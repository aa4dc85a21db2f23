import type { ListedName } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo } from 'react'
import { Link, type Parameters, useParameters, useSetParameters } from '../address.tsx'
import { ColumnsIcon } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty, Trouble } from '../design/states.tsx'
import { useMasthead } from '../session.tsx'
import { fieldsOf } from './fields.ts'
import { filtersOf, queryOf } from './filters.ts'
import { kinds } from './kinds.ts'
import { Pagination } from './pagination.tsx'
import { pageQuery } from './queries.ts'
import { RecordTable } from './record-table.tsx'
import { Toolbar } from './toolbar.tsx'

/** A page with one list: its filters, its table and its pages, all of it in the address. */
export const RecordList = ({ name, actions }: { name: ListedName; actions?: ReactNode }) => {
  const parameters = useParameters()
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const { plural, list } = kinds[name]
  const query = queryOf(name, parameters)
  const { data, error, isPlaceholderData, refetch } = useQuery(pageQuery(masthead, name, query))
  const isFull = data !== undefined && !isPlaceholderData && data.items.length === data.pageSize
  useEffect(() => {
    // Most who look at a page look at the next one too.
    const next = pageQuery(masthead, name, { ...query, page: query.page + 1 })
    if (isFull) queryClient.prefetchQuery({ ...next, staleTime: Number.POSITIVE_INFINITY })
  })
  const shown = useShownColumns(name, parameters)
  return (
    <div className="page">
      <PageHead title={plural} actions={actions} />
      <Toolbar name={name} parameters={parameters}>
        <ColumnMenu name={name} shown={shown} />
      </Toolbar>
      {error && <Trouble error={error} onRetry={() => refetch()} />}
      {!error && (
        <div className="card table-frame">
          {data === undefined ? (
            <Skeleton columns={shown.length + 1} what={plural.toLowerCase()} />
          ) : data.items.length === 0 ? (
            <NothingFound name={name} parameters={parameters} total={data.total} />
          ) : (
            <RecordTable
              {...{ name, shown, takesKeys: true, isWaiting: isPlaceholderData }}
              records={data.items}
              caption={plural}
            />
          )}
        </div>
      )}
      {data && !error && <Pagination list={list} parameters={parameters} shown={data} />}
    </div>
  )
}

const NothingFound = ({
  name,
  parameters,
  total,
}: {
  name: ListedName
  parameters: Parameters
  total: number | null
}) => {
  const { plural, list } = kinds[name]
  const isFiltered = filtersOf(name).some((filter) => parameters[filter.name])
  if (total !== 0)
    return (
      <Empty title="There is no such page">
        <p>
          The list ends before it.{' '}
          <Link to={list} parameters={{ ...parameters, page: undefined }}>
            Go to the first page
          </Link>
        </p>
      </Empty>
    )
  if (!isFiltered)
    return (
      <Empty title={`There are no ${plural.toLowerCase()} yet`}>
        <p>They come by an import, or through the API.</p>
      </Empty>
    )
  return (
    <Empty title={`No ${plural.toLowerCase()} match`}>
      <p>
        Try fewer words or filters, or <Link to={list}>show all</Link>.
      </p>
    </Empty>
  )
}

/** The columns that the address names, else the usual ones. */
const useShownColumns = (name: ListedName, { columns }: Parameters): readonly string[] =>
  useMemo(() => columns?.split(',') ?? kinds[name].columns, [name, columns])

const ColumnMenu = ({ name, shown }: { name: ListedName; shown: readonly string[] }) => {
  const setParameters = useSetParameters()
  const set = (columns: readonly string[]) => {
    const isUsual = columns.join() === kinds[name].columns.join()
    setParameters({ columns: isUsual ? undefined : columns.join() }, { replace: true })
  }
  return (
    <Menu
      button={
        <>
          <ColumnsIcon />
          Columns
        </>
      }
    >
      {() => (
        <fieldset className="bare">
          <legend className="visually-hidden">Columns</legend>
          {fieldsOf(name).map(({ name: field, label }) => (
            <label key={field} className="menu-item">
              <input
                type="checkbox"
                checked={shown.includes(field)}
                onChange={({ target: { checked } }) =>
                  set(checked ? [...shown, field] : shown.filter((one) => one !== field))
                }
              />
              {label}
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  )
}

const skeletonRows = [1, 2, 3, 4, 5, 6, 7, 8]

const Skeleton = ({ columns, what }: { columns: number; what: string }) => (
  <>
    <output className="visually-hidden">Loading {what}</output>
    <table className="records" aria-hidden="true">
      <tbody>
        {skeletonRows.map((row) => (
          <tr key={row}>
            {Array.from({ length: columns }, (_, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns of nothing are told apart by their places only
              <td key={column}>
                <span className="skeleton" />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </>
)
