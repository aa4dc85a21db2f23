import { useQuery } from '@tanstack/react-query'
import { useManagement } from '../session.tsx'

/** The day that it is in the time zone of the tenant, as YYYY-MM-DD; undefined until the service has told the time zone. */
export const useToday = (): string | undefined => {
  const management = useManagement()
  const { data, isError } = useQuery({
    queryKey: ['tenant'],
    queryFn: ({ signal }) => management.tenant.get({ signal }),
    staleTime: 300_000,
  })
  // Where that cannot be told, the day of the reader is nearly always the same.
  return data || isError ? dayIn(data?.timeZone) : undefined
}

// Sweden writes days as ISO 8601 does.
const dayIn = (timeZone: string | undefined): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date())

const millisecondsOfADay = 86_400_000

export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * millisecondsOfADay).toISOString().slice(0, 10)

/** The first and the last day of a month, counted from that of the day. */
export const monthOf = (day: string, months = 0): { from: string; to: string } => {
  const [year = 0, month = 0] = day.split('-').map(Number)
  const first = (offset: number): string => new Date(Date.UTC(year, month - 1 + offset, 1)).toISOString().slice(0, 10)
  return { from: first(months), to: addDays(first(months + 1), -1) }
}
