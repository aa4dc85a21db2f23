import { isProblem } from '@masthead/client'
import { useRef } from 'react'
import { useTabStorage } from './draft.ts'

/** Sends what a form holds under a key. */
type SendOnce = <A>(input: object, send: (idempotencyKey: string) => Promise<A>) => Promise<A>

/**
 * What went without an answer goes again under the same key, so that it is done once however often somebody presses the
 * button.
 */
export const useSendOnce = (): SendOnce => {
  const unanswered = useRef<Unanswered>(null)
  return sendingOnce(
    () => unanswered.current,
    (sent) => {
      unanswered.current = sent
    },
  )
}

/** The same also over a reload of the page, after which the draft of the form of this name is sent. */
export const useSendDraftOnce = (form: string): SendOnce => {
  const stored = useTabStorage<Unanswered>(`${form} unanswered`)
  return sendingOnce(stored.read, stored.keep)
}

type Unanswered = { body: string; key: string }

const sendingOnce =
  (read: () => Unanswered | null, keep: (sent: Unanswered | null) => void): SendOnce =>
  async (input, send) => {
    const body = JSON.stringify(input)
    const before = read()
    const sent = before?.body === body ? before : { body, key: crypto.randomUUID() }
    keep(sent)
    try {
      const answer = await send(sent.key)
      keep(null)
      return answer
    } catch (error) {
      if (isAnswer(error)) keep(null)
      throw error
    }
  }

/** Whether it is known what became of the request. */
const isAnswer = (error: unknown): boolean =>
  isProblem(error) && error.status < 500 && !isProblem(error, 'request_in_progress')
