import { type ListedName, resources } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '../address.tsx'
import { Empty, Loading, Trouble } from '../design/states.tsx'
import { useMasthead } from '../session.tsx'
import { queryOf } from './filters.ts'
import { formatNumber } from './formats.ts'
import { kinds } from './kinds.ts'
import { pageQuery } from './queries.ts'
import { RecordTable } from './record-table.tsx'

const most = 10

type RelatedRecordsProps = {
  name: ListedName
  /** The field by which they belong to what the page shows, and what it holds. */
  field: string
  value: string
  /** Also those that the list leaves out by itself. */
  showsLeftOut: boolean
}

/** The first records of a list that belong to another record, and the way to all of them. */
export const RelatedRecords = ({ name, field, value, showsLeftOut }: RelatedRecordsProps) => {
  const masthead = useMasthead()
  const leftOut = showsLeftOut ? Object.keys(resources[name].listing.leftOutUnless) : []
  const parameters = { [field]: value, ...Object.fromEntries(leftOut.map((include) => [include, 'true'])) }
  const query = { ...queryOf(name, parameters), pageSize: most }
  const { data, error, refetch } = useQuery(pageQuery(masthead, name, query))
  const { plural, list, columns } = kinds[name]
  return (
    <section className="section">
      <div className="section-head">
        <h2>
          {plural} {data?.total != null && <span className="muted number">{formatNumber(data.total)}</span>}
        </h2>
        {data && data.total !== 0 && (
          <Link to={list} parameters={parameters}>
            {`All ${plural.toLowerCase()}`}
          </Link>
        )}
      </div>
      {error ? (
        <Trouble error={error} onRetry={() => refetch()} />
      ) : (
        <div className="card table-frame">
          {!data ? (
            <Loading what={plural.toLowerCase()} />
          ) : data.items.length === 0 ? (
            <Empty title={`No ${plural.toLowerCase()}`} />
          ) : (
            <RecordTable
              name={name}
              records={data.items}
              shown={columns.filter((one) => one !== field)}
              caption={plural}
            />
          )}
        </div>
      )}
    </section>
  )
}
