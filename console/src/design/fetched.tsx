import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isUnanswered } from '../connection.ts'
import { Loading, Trouble } from './states.tsx'

type FetchedProps<T> = {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  what: string
  children: (data: T) => ReactNode
}

/**
 * What went wrong, to be told in the place of what a query brought. That stays where nothing answered: the frame tells it, and
 * the query asks again as soon as something does.
 */
export const shownErrorOf = ({ data, error }: { data: unknown; error: unknown }): unknown =>
  data !== undefined && isUnanswered(error) ? null : error

/** What a query brought; until then that it is loading, or what went wrong. */
export const Fetched = <T,>({ query, what, children }: FetchedProps<T>) => {
  const { data, refetch } = query
  const error = shownErrorOf(query)
  if (error) return <Trouble error={error} onRetry={() => refetch()} />
  return data === undefined ? <Loading what={what} /> : children(data)
}
