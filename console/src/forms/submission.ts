import { isProblem } from '@masthead/client'
import { useRef, useState } from 'react'
import { useSendOnce } from './send-once.ts'

export type Submission = {
  isBusy: boolean
  /** What was wrong the last time; undefined when nothing was. */
  error: unknown
  /** The same, where no field tells it. */
  trouble: unknown
  /** What was wrong with a property of what was sent, in words. */
  errorAt: (property: string) => string | undefined
  /** Undefined when it went wrong. */
  send: <I extends object, A>(input: I, call: Call<I, A>) => Promise<A | undefined>
}
type Call<I, A> = (input: I, options: { idempotencyKey: string }) => Promise<A>

/**
 * Sends what a form holds, once, and tells how that went. The form is over when that went well, and its dialog may take a
 * moment to close; `isRepeatable` is for a button that stays, and may be pressed again.
 */
export const useSubmission = ({ isRepeatable = false } = {}): Submission => {
  const [{ isBusy, error }, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false })
  // Faster than the state: a second click comes before the button is drawn anew.
  const isInFlight = useRef(false)
  const sendOnce = useSendOnce()
  return {
    isBusy,
    error,
    trouble: placesOf(error).length > 0 ? undefined : error,
    errorAt: (property) => {
      const place = placesOf(error).find((one) => one.property === property)
      return place?.detail
    },
    send: async (input, call) => {
      if (isInFlight.current) return undefined
      isInFlight.current = true
      setState({ isBusy: true })
      try {
        const answer = await sendOnce(input, (idempotencyKey) => call(input, { idempotencyKey }))
        if (isRepeatable) {
          isInFlight.current = false
          setState({ isBusy: false })
        }
        return answer
      } catch (error) {
        isInFlight.current = false
        setState({ isBusy: false, error })
        return undefined
      }
    },
  }
}

/** A pointer into an array is about the field that holds it; what a problem says of a field begins with its name. */
const placesOf = (error: unknown): { property: string; detail: string }[] => {
  if (!isProblem(error)) return []
  return error.errors.flatMap(({ pointer, detail }) => {
    const [, property] = pointer?.split('/') ?? []
    return property ? [{ property, detail: detail.replace(/^`[^`]*`/, 'This').replaceAll('`', '') }] : []
  })
}
