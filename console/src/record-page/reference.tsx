import type { ListedName } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '../address.tsx'
import { kinds, titleOf } from '../records/kinds.ts'
import { recordQuery } from '../records/queries.ts'
import { Reference } from '../records/value.tsx'
import { useMasthead } from '../session.tsx'

/** A record that another one names, by what it is called; by its identifier until that is known. */
export const NamedReference = ({ to, id }: { to: ListedName; id: string }) => {
  const masthead = useMasthead()
  const { data } = useQuery({ ...recordQuery(masthead, to, id), enabled: to !== 'publications' })
  if (!data) return <Reference to={to} id={id} />
  return (
    <Link to={kinds[to].one} id={id}>
      <bdi>{titleOf(to, data)}</bdi>
    </Link>
  )
}
