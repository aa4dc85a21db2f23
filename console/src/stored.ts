import { useMemo, useSyncExternalStore } from 'react'
import { useMe } from './session.tsx'

const listeners = new Set<() => void>()
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  // Another tab may have changed it.
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/**
 * What this browser keeps for one person in one tenant, of which the service knows nothing. It is to be read with distrust: an older
 * or newer console may have written it.
 */
export const useStored = <T>(name: string, read: (kept: unknown) => T): [T, (value: T) => void] => {
  const { userId, tenant } = useMe()
  const key = `masthead.${tenant.id}.${userId}.${name}`
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key))
  // biome-ignore lint/correctness/useExhaustiveDependencies: how it is read does not change
  const value = useMemo(() => read(parsed(text)), [text])
  const write = (next: T) => {
    localStorage.setItem(key, JSON.stringify(next))
    for (const listener of listeners) listener()
  }
  return [value, write]
}

const parsed = (text: string | null): unknown => {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
