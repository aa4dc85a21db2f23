import { isProblem } from '@masthead/client'
import { useRef } from 'react'

/** Sends what a form holds under a key. */
export type SendOnce = <A>(input: object, send: (idempotencyKey: string) => Promise<A>) => Promise<A>

/**
 * What went without an answer goes again under the same key, so that it is done once however often somebody presses the
 * button.
 */
export const useSendOnce = (): SendOnce => {
  const unanswered = useRef<{ body: string; key: string }>(null)
  return async (input, send) => {
    const body = JSON.stringify(input)
    if (unanswered.current?.body !== body) unanswered.current = { body, key: crypto.randomUUID() }
    try {
      const answer = await send(unanswered.current.key)
      unanswered.current = null
      return answer
    } catch (error) {
      if (isAnswer(error)) unanswered.current = null
      throw error
    }
  }
}

/** Whether it is known what became of the request. */
const isAnswer = (error: unknown): boolean =>
  isProblem(error) && error.status < 500 && !isProblem(error, 'request_in_progress')
