import { ConnectionError, type Hooks, TimeoutError, UnexpectedAnswerError } from '@masthead/client'
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

/** Whether the service can be reached: the browser may know that it is offline, or nothing answers. */
type Connection = 'reached' | 'offline' | 'away'

const shortestPauseMilliseconds = 1_000
const longestPauseMilliseconds = 8_000

let connection: Connection = navigator.onLine ? 'reached' : 'offline'
const listeners = new Set<() => void>()
let attempts = 0
let timer: ReturnType<typeof setTimeout> | undefined

const become = (next: Connection): void => {
  if (next === 'reached') attempts = 0
  if (next === connection) return
  connection = next
  // What is read for pages waits, and goes on by itself.
  onlineManager.setOnline(next === 'reached')
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection)

/** As a proxy answers for a service that is away. */
const isOfProxy = (status: number): boolean => [502, 503, 504].includes(status)

/** Whether a call failed because nothing answered it, or a proxy for a service that is away. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (error instanceof UnexpectedAnswerError && isOfProxy(error.status))

/** To be told of every call that failed. Asks from then on until there is an answer. */
export const noteFailure = (error: unknown): void => {
  if (isUnanswered(error)) noteSilence()
}

const noteSilence = (): void => {
  become(navigator.onLine ? 'away' : 'offline')
  if (timer !== undefined) return
  const pause = Math.min(longestPauseMilliseconds, shortestPauseMilliseconds * 2 ** attempts++)
  timer = setTimeout(askAgain, pause)
}

const askAgain = async (): Promise<void> => {
  clearTimeout(timer)
  timer = undefined
  try {
    const response = await fetch('/console.json', { cache: 'no-store' })
    if (!isOfProxy(response.status)) return become('reached')
  } catch {
    // Nothing answers yet.
  }
  noteSilence()
}

addEventListener('offline', noteSilence)
addEventListener('online', askAgain)
// The library would take a browser that is online again for a service that answers.
onlineManager.setEventListener(() => undefined)
onlineManager.setOnline(connection === 'reached')
if (connection === 'offline') noteSilence()

export const callHooks: Hooks = {
  answer: ({ status }) => {
    if (!isOfProxy(status)) become('reached')
  },
  retry: ({ error }) => noteFailure(error),
}

const whenReached = (): Promise<void> =>
  new Promise((resolve) => {
    if (connection === 'reached') return resolve()
    const unsubscribe = subscribe(() => {
      if (connection !== 'reached') return
      unsubscribe()
      resolve()
    })
  })

/** Loads a part of the console. Where nothing answers, it waits until something does, and tries again. */
export const loadPatiently = async <M>(load: () => Promise<M>): Promise<M> => {
  try {
    return await load()
  } catch {
    await askAgain()
    await whenReached()
    await reloadStyles()
    return load()
  }
}

/** What loads a part asks once for its style, and would draw it without. */
const reloadStyles = (): Promise<unknown> => {
  const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')]
  const missing = links.filter(({ sheet }) => sheet === null)
  return Promise.all(
    missing.map(
      (link) =>
        new Promise((resolve) => {
          const again = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: link.href })
          again.onload = again.onerror = resolve
          link.replaceWith(again)
        }),
    ),
  )
}
