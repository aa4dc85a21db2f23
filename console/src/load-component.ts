import { type ComponentType, useEffect } from 'react'
import { loadPatiently } from './connection.ts'

/** A component that is loaded when it is first drawn. */
export const loadComponent = async <P>(load: () => Promise<ComponentType<P>>): Promise<Loaded<P>> => {
  try {
    return { default: await loadPatiently(load) }
  } catch (error) {
    if (isJustReloaded()) throw error
    return { default: Reload }
  }
}

type Loaded<P> = { default: ComponentType<P> }

/** As long as a page lives, browsers take a module that was lost once on the way for lost. */
const Reload = () => {
  useEffect(() => location.reload(), [])
  return null
}

const isJustReloaded = () => {
  const [navigation] = performance.getEntriesByType('navigation')
  return navigation instanceof PerformanceNavigationTiming && navigation.type === 'reload' && performance.now() < 60_000
}
