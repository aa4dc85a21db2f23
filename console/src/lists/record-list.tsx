import { isProblem } from '@masthead/client'
import type { ListedName } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo } from 'react'
import { Link, type Parameters, useParameters, useSetParameters } from '../address.tsx'
import { shownErrorOf } from '../design/fetched.tsx'
import { ColumnsIcon } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty, Trouble } from '../design/states.tsx'
import { fieldsOf } from '../records/fields.ts'
import { firstPage, isFiltered, isWalked, needsToday, queryOf } from '../records/filters.ts'
import { type AnyRecord, kinds } from '../records/kinds.ts'
import { pageQuery, type RecordPage } from '../records/queries.ts'
import { useToday } from '../records/today.ts'
import { useMasthead } from '../session.tsx'
import { ExportButton } from './export-button.tsx'
import { Pagination } from './pagination.tsx'
import { RecordTable } from './record-table.tsx'
import { type Selection, useSelection } from './selection.tsx'
import { Toolbar } from './toolbar.tsx'
import { Views } from './views.tsx'

type RecordListProps = {
  name: ListedName
  actions?: ReactNode
  /** What can be done with records that are chosen; without it, none can be. */
  bulk?: ((chosen: readonly AnyRecord[], onDone: () => void) => ReactNode) | undefined
}

/** A page with one list: its filters, its table and its pages, all of it in the address. */
export const RecordList = ({ name, actions, bulk }: RecordListProps) => {
  const parameters = useParameters()
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const today = useToday()
  const { plural, list } = kinds[name]
  const asked = queryOf(name, parameters, today)
  const walks = isWalked(name, asked)
  const isKnown = today !== undefined || !needsToday(name, parameters)
  const query = useQuery({ ...pageQuery(masthead, name, asked), enabled: isKnown })
  const { data, isPlaceholderData, refetch } = query
  const error = shownErrorOf(query)
  const next = data !== undefined && !isPlaceholderData ? data.nextCursor : null
  useEffect(() => {
    // Most who look at a page look at the next one too.
    if (next === null) return
    const { page = 1, cursor, ...filters } = asked
    const following = walks ? { ...filters, cursor: next } : { ...filters, page: page + 1 }
    queryClient.prefetchQuery({ ...pageQuery(masthead, name, following), staleTime: Number.POSITIVE_INFINITY })
  })
  const shown = useShownColumns(name, parameters)
  const selection = useSelection(JSON.stringify(asked))
  const chosen = bulk ? (data?.items ?? []).filter(({ id }) => selection.chosen.has(id)) : []
  return (
    <div className="page">
      <PageHead title={plural} actions={actions} />
      <Toolbar name={name} parameters={parameters}>
        <Views name={name} parameters={parameters} />
        <ColumnMenu name={name} shown={shown} />
        <ExportButton name={name} parameters={parameters} today={today} />
      </Toolbar>
      {error !== null && <ListTrouble error={error} name={name} parameters={parameters} onRetry={() => refetch()} />}
      {bulk && <ChosenBar selection={selection} chosen={chosen} bulk={bulk} />}
      {error === null && (
        <div className="card table-frame">
          {data === undefined ? (
            <Skeleton columns={shown.length + 1} what={plural.toLowerCase()} />
          ) : data.items.length === 0 ? (
            <NothingFound name={name} parameters={parameters} shown={data} />
          ) : (
            <RecordTable
              name={name}
              shown={shown}
              isMain
              isWaiting={isPlaceholderData}
              records={data.items}
              caption={plural}
              sorting={{ parameters }}
              selection={bulk && selection}
            />
          )}
        </div>
      )}
      {data && error === null && <Pagination list={list} parameters={parameters} shown={data} isWalked={walks} />}
    </div>
  )
}

type ChosenBarProps = {
  selection: Selection
  chosen: readonly AnyRecord[]
  bulk: NonNullable<RecordListProps['bulk']>
}

/** It is there before something is chosen, so that who does not see it hears of it, and after: what was done may leave the list. */
const ChosenBar = ({ selection, chosen, bulk }: ChosenBarProps) => (
  <div className={chosen.length > 0 ? 'chosen-bar card' : 'chosen-bar'}>
    <output>{chosen.length > 0 && `${chosen.length} chosen`}</output>
    {bulk(chosen, () => selection.onChoose(new Set()))}
    {chosen.length > 0 && (
      <button type="button" className="link-button" onClick={() => selection.onChoose(new Set())}>
        Choose none
      </button>
    )}
  </div>
)

type ListTroubleProps = { error: unknown; name: ListedName; parameters: Parameters; onRetry: () => void }

const ListTrouble = ({ error, name, parameters, onRetry }: ListTroubleProps) => (
  <>
    <Trouble error={error} onRetry={onRetry} />
    {(isProblem(error, 'invalid_cursor') || isProblem(error, 'invalid_parameter')) && (
      <p>
        <Link to={kinds[name].list} parameters={{ ...parameters, ...firstPage }}>
          Go to the first page
        </Link>
      </p>
    )}
  </>
)

type NothingFoundProps = { name: ListedName; parameters: Parameters; shown: RecordPage }

const NothingFound = ({ name, parameters, shown: { total, nextCursor } }: NothingFoundProps) => {
  const { plural, list } = kinds[name]
  if (nextCursor !== null)
    return (
      <Empty title="None so far">
        <p>
          {`Many ${plural.toLowerCase()} were passed by that the filters leave out. `}
          <Link to={list} parameters={{ ...parameters, ...firstPage, cursor: nextCursor }}>
            Look further
          </Link>
        </p>
      </Empty>
    )
  if (total !== 0)
    return (
      <Empty title="There is no such page">
        <p>
          The list ends before it.{' '}
          <Link to={list} parameters={{ ...parameters, ...firstPage }}>
            Go to the first page
          </Link>
        </p>
      </Empty>
    )
  if (!isFiltered(name, parameters))
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
