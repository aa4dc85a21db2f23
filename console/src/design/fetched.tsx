import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useConnection } from '../connection.ts'
import { Loading, Trouble } from './states.tsx'

type FetchedProps<T> = {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  what: string
  children: (data: T) => ReactNode
}

/** What a query brought; until then that it is loading, or what went wrong. What is there stays while nothing answers. */
export const Fetched = <T,>({ query: { data, error, refetch }, what, children }: FetchedProps<T>) => {
  const connection = useConnection()
  if (error && (data === undefined || connection === 'reached'))
    return <Trouble error={error} onRetry={() => refetch()} />
  return data === undefined ? <Loading what={what} /> : children(data)
}
