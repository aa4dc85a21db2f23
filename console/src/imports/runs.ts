import type { ImportRun } from '@masthead/client/management'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useManagement } from '../session.tsx'

/** Small files are done at once, and large ones need not be asked about so often. */
const lookMilliseconds = { first: 100, later: 400 }
const firstLooksMilliseconds = 2_000

const keyOf = (runId: string) => ['import-run', runId]

/** How a run stands, looked at again and again while it is at work. */
export const useRun = (runId: string) => {
  const management = useManagement()
  const runningSince = useRef<number>(undefined)
  const pause = (state: ImportRun['state'] | undefined): number | false => {
    runningSince.current = state === 'running' ? (runningSince.current ?? Date.now()) : undefined
    if (runningSince.current === undefined) return false
    const isFirst = Date.now() - runningSince.current < firstLooksMilliseconds
    return isFirst ? lookMilliseconds.first : lookMilliseconds.later
  }
  return useQuery({
    queryKey: keyOf(runId),
    queryFn: ({ signal }) => management.importRuns.get(runId, { signal }),
    refetchInterval: ({ state }) => pause(state.data?.state),
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
/** What is decided about one file; an archive may have several. */
export type FileOptions = Omit<Options, 'member' | 'members'>

export const isArchive = (inspection: Inspection | null): boolean => (inspection?.members.length ?? 0) > 1
