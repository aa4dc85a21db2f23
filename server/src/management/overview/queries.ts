import { totalLevel } from '../../database/tally-levels.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'

type Facet = { facet: string; count: number }

/** Tallies have a total per facet: the recursion looks up each once, and skips the tallies of blocks. */
const facets = (prefix: string): string => `
  with recursive facets (facet) as (
    select min(facet) from tallies
    where tenant_id = $1 and resource = 'subscriptions' and facet >= '${prefix}'
    union all
    select (
      select min(tallies.facet) from tallies
      where tenant_id = $1 and resource = 'subscriptions' and tallies.facet > facets.facet
    )
    from facets where starts_with(facets.facet, '${prefix}')
  )
  select facets.facet, sum(tallies.count)::bigint as count
  from facets join tallies on tallies.tenant_id = $1 and tallies.facet = facets.facet
    and tallies.resource = 'subscriptions' and tallies.class = 0 and tallies.level = ${totalLevel}
  where starts_with(facets.facet, '${prefix}')
  group by facets.facet having sum(tallies.count) > 0`

/** Statuses are an open set. */
const mostStatuses = 50

export const subscriptionsByStatus = async (query: TenantQuery): Promise<{ status: string; count: number }[]> => {
  const found = await query<Facet>({ text: facets('status=') })
  return found
    .map(({ facet, count }) => ({ status: facet.slice('status='.length), count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, mostStatuses)
}

type OfPublication = { publicationId: string; code: string; name: string | null; count: number; active: number }

export const subscriptionsByPublication = (query: TenantQuery): Promise<OfPublication[]> =>
  query<OfPublication>({
    text: `
      with counted as (${facets('publicationId=')})
      select publications.id as "publicationId", publications.code, publications.name, counted.count,
        coalesce((
          select sum(tallies.count) from tallies
          where tenant_id = $1 and resource = 'subscriptions' and class = 0 and level = ${totalLevel}
            and tallies.facet = counted.facet || '&status=active'
        ), 0)::bigint as active
      from counted
      -- Those of one publication and one status are longer.
      join publications on publications.tenant_id = $1 and counted.facet = 'publicationId=' || publications.id
      order by counted.count desc, publications.code limit 20`,
  })

export const renewalsByMonth = (query: TenantQuery, today: string): Promise<{ month: string; count: number }[]> =>
  query<{ month: string; count: number }>({
    text: `
      select to_char(months.first, 'YYYY-MM') as month, count(subscriptions.renewal_date) as count
      from generate_series(date_trunc('month', $2::date::timestamp), date_trunc('month', $2::date::timestamp)
        + interval '11 months', interval '1 month') as months (first)
      left join subscriptions on subscriptions.tenant_id = $1
        and renewal_date >= greatest(months.first, $2::date::timestamp)::date
        and renewal_date < (months.first + interval '1 month')::date
        and deleted_at is null and status_key = 'active'
      group by months.first order by months.first`,
    values: [today],
  })

type Receivables = { age: string; count: number; totalDue: string }

export const receivablesByAge = (query: TenantQuery, today: string): Promise<Receivables[]> =>
  query<Receivables>({
    text: `
      select ages.age, count(invoices.is_open) as count, coalesce(sum(invoices.total_due), 0)::numeric(30, 2)::text as "totalDue"
      from (values (1, 'not_due', 0, null), (2, '1-30', 30, 1), (3, '31-60', 60, 31), (4, '61-90', 90, 61),
        (5, 'over_90', null, 91)) as ages (place, age, oldest, youngest)
      left join invoices on invoices.tenant_id = $1 and is_open = 1
        and (coalesce(due_date, $2::date) <= $2::date - ages.youngest or ages.youngest is null)
        and (coalesce(due_date, $2::date) >= $2::date - ages.oldest or ages.oldest is null)
      group by ages.place, ages.age order by ages.place`,
    values: [today],
  })
