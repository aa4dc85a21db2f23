import type { ImportRun } from '@masthead/client/management'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useManagement } from '../session.tsx'

const lookMilliseconds = 400

const keyOf = (runId: string) => ['import-run', runId]

/** How a run stands, looked at again and again while it is at work. */
export const useRun = (runId: string) => {
  const management = useManagement()
  return useQuery({
    queryKey: keyOf(runId),
    queryFn: ({ signal }) => management.importRuns.get(runId, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? lookMilliseconds : false),
  })
}

/** Shows a run as a call has answered it. */
export const useShowRun = () => {
  const queryClient = useQueryClient()
  return async (run: ImportRun): Promise<void> => {
    await queryClient.cancelQueries({ queryKey: keyOf(run.id) })
    queryClient.setQueryData(keyOf(run.id), run)
  }
}

export type Inspection = NonNullable<ImportRun['inspection']>
export type Options = ImportRun['options']
