import { useEffect, useState } from 'react'
import { useMe } from '../session.tsx'
import { draftPrefix } from './draft-storage.ts'

/** What was typed into a form and not saved yet, in this tab: it outlives a reload and signing in again. Never a secret. */
export type Draft = {
  /** It holds what was typed before. */
  isRestored: boolean
  /** Puts what the form was opened with in its place. */
  discard: () => void
  /** It was saved, or is not wanted any more. */
  forget: () => void
}

type TabStorage<T> = { read: () => T | null; keep: (value: T | null) => void }

/** A place in this tab for what a form holds, by the person who is signed in. */
export const useTabStorage = <T>(form: string): TabStorage<T> => {
  const { userId, tenant } = useMe()
  const key = `${draftPrefix}${tenant.id}:${userId}:${form}`
  return {
    read: () => JSON.parse(sessionStorage.getItem(key) ?? 'null'),
    keep: (value) => {
      try {
        if (value === null) sessionStorage.removeItem(key)
        else sessionStorage.setItem(key, JSON.stringify(value))
      } catch {
        // There is no room left: then it is as in a page without drafts.
      }
    },
  }
}

type DraftState<T> = {
  value: T
  set: (value: T | ((before: T) => T)) => void
  change: (changes: Partial<T>) => void
  /** What the form was opened with when the draft began: perhaps not what it would be opened with now. */
  since: T
  draft: Draft
}

/** A state that is kept as a draft while it differs from what it was at first. `form` tells it from other forms. */
export const useDraft = <T extends object>(form: string, first: T): DraftState<T> => {
  const { read, keep } = useTabStorage<{ value: T; since: T }>(form)
  const [found, setFound] = useState(read)
  const [value, set] = useState<T>(() => ({ ...first, ...found?.value }))
  const since = found?.since ?? first
  const isChanged = JSON.stringify(value) !== JSON.stringify(first)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it was at first is an object of its own in every rendering
  useEffect(() => keep(isChanged ? { value, since } : null), [value, isChanged])
  const change = (changes: Partial<T>) => set((before) => ({ ...before, ...changes }))
  const forget = () => keep(null)
  const discard = () => {
    set(first)
    setFound(null)
  }
  return { value, set, change, since, draft: { isRestored: found !== null && isChanged, discard, forget } }
}
