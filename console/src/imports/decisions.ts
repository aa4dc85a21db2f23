import type { ImportRun } from '@masthead/client/management'
import { type ResourceName, resourceNames } from '@masthead/contract'
import { useEffect, useRef, useState } from 'react'
import { useManagement } from '../session.tsx'
import { type Options, useShowRun } from './runs.ts'

/** What somebody may decide about a file. Each decision has the file looked at again. */
export type Decisions = {
  options: Options
  /** Undefined while nobody knows. */
  resource: ResourceName | undefined
  isLooking: boolean
  error: unknown
  decide: (change: OptionChange) => void
  decideResource: (resource: ResourceName) => void
  /** Leaves all to what is noticed. */
  forget: () => void
}

type Decided = { options: Options; resource: ResourceName | undefined }

const resourceOf = ({ inspection, resource }: ImportRun): ResourceName | undefined =>
  resourceNames.find((name) => name === (inspection?.resource ?? resource))

/** Undefined leaves it to what is noticed. */
export type OptionChange = { [K in keyof Options]?: Options[K] | undefined }

const changed = (options: Options, change: OptionChange): Options =>
  Object.fromEntries(Object.entries({ ...options, ...change }).filter(([, value]) => value !== undefined))

const lookMilliseconds = 200

/**
 * Decisions are shown at once and sent one after the other, because a run refuses them while it looks at the file. What is
 * decided meanwhile goes together.
 */
export const useDecisions = (run: ImportRun): Decisions => {
  const management = useManagement()
  const show = useShowRun()
  const [draft, setDraft] = useState<Decided>()
  const [error, setError] = useState<unknown>()
  const waiting = useRef<Partial<Decided>>(undefined)
  const isSending = useRef(false)
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    return () => controller.abort()
  }, [])
  const look = async ({ options, resource }: Partial<Decided>, signal: AbortSignal) => {
    await management.importRuns.update(
      run.id,
      { ...(options && { options }), ...(resource && { resource }) },
      { signal },
    )
    let looked = await management.importRuns.inspect(run.id, { signal })
    while (looked.state === 'running' && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, lookMilliseconds))
      looked = await management.importRuns.get(run.id, { signal })
    }
    if (waiting.current === undefined) await show(looked)
  }
  const send = async (change: Partial<Decided>) => {
    waiting.current = { ...waiting.current, ...change }
    if (isSending.current) return
    const { signal } = leaving.current
    isSending.current = true
    setError(undefined)
    try {
      for (let next: Partial<Decided> | undefined = waiting.current; next; next = waiting.current) {
        waiting.current = undefined
        await look(next, signal)
      }
    } catch (reason) {
      waiting.current = undefined
      if (!signal.aborted) setError(reason)
    } finally {
      isSending.current = false
      if (!signal.aborted) setDraft(undefined)
    }
  }
  const current: Decided = draft ?? { options: run.options, resource: resourceOf(run) }
  const change = (next: Partial<Decided>) => {
    setDraft({ ...current, ...next })
    void send(next)
  }
  return {
    options: current.options,
    resource: current.resource,
    isLooking: draft !== undefined,
    error,
    decide: (option) => change({ options: changed(current.options, option) }),
    // Fields that were chosen are those of another kind of records.
    decideResource: (resource) => {
      const { columns: _columns, translations: _translations, ...options } = current.options
      change({ resource, options })
    },
    forget: () => change({ options: {} }),
  }
}
