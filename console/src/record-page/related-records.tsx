import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Link } from '../address.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatNumber } from '../design/formats.ts'
import { RecordTable } from '../lists/record-table.tsx'
import { queryOf } from '../records/filters.ts'
import { kinds } from '../records/kinds.ts'
import { pageQuery } from '../records/queries.ts'
import { useMasthead } from '../session.tsx'
import type { Related } from './layouts.ts'

const most = 10

/** The first records of a list that belong to another record, and the way to all of them. */
export const RelatedRecords = ({ name, heading, parameters, sort }: Related) => {
  const masthead = useMasthead()
  const asked = { ...parameters, ...(sort !== undefined && { sort }) }
  const query = { ...queryOf(name, parameters), ...(sort !== undefined && { sort }), pageSize: most }
  const page = useQuery(pageQuery(masthead, name, query))
  const { data } = page
  const { plural, list, columns } = kinds[name]
  const id = useId()
  return (
    <section className="section" aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>
          {heading}{' '}
          {data?.total != null && data.total > 0 && <span className="muted number">{formatNumber(data.total)}</span>}
        </h2>
        {data && data.total !== 0 && (
          <Link to={list} parameters={asked}>
            {`All ${plural.toLowerCase()}`}
          </Link>
        )}
      </div>
      <Fetched query={page} what={plural.toLowerCase()}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">{`No ${plural.toLowerCase()}.`}</p>
          ) : (
            <div className="card table-frame">
              <RecordTable
                name={name}
                records={items}
                shown={columns.filter((one) => parameters[one] === undefined)}
                caption={heading}
              />
            </div>
          )
        }
      </Fetched>
    </section>
  )
}
