import { useQuery } from '@tanstack/react-query'
import { Link } from '../address.tsx'
import { PageHead } from '../design/page-head.tsx'
import type { ListedName } from '../records/fields.ts'
import { formatNumber } from '../records/formats.ts'
import { kinds } from '../records/kinds.ts'
import { pageQuery } from '../records/queries.ts'
import { useMasthead, useMe } from '../session.tsx'

const names: readonly ListedName[] = ['accounts', 'contacts', 'publications', 'subscriptions', 'invoices']

export const Page = () => {
  const { tenant } = useMe()
  return (
    <div className="page">
      <PageHead title={tenant.name} />
      <div className="tiles">
        {names.map((name) => (
          <Total key={name} name={name} />
        ))}
      </div>
    </div>
  )
}

const Total = ({ name }: { name: ListedName }) => {
  const { data } = useQuery(pageQuery(useMasthead(), name, { pageSize: 1 }))
  const { plural, list } = kinds[name]
  return (
    <Link to={list} className="card tile">
      <span className="muted">{plural}</span>
      <strong className="number">{data?.total == null ? '–' : formatNumber(data.total)}</strong>
    </Link>
  )
}
