import { rate, scope, token } from './caller-steps.ts'
import type { Exchange, Step } from './exchange.ts'
import { handler } from './handler.ts'
import { admission, idempotency, path, preflight, request } from './request-steps.ts'
import { conditional, encoding, refuse, send } from './response-steps.ts'

/** What every call goes through. A request that is refused goes no further than the step that refuses it. */
const steps: readonly Step[] = [
  admission,
  preflight,
  token,
  rate,
  path,
  scope,
  request,
  idempotency,
  handler,
  conditional,
  encoding,
  send,
]

/** Takes the steps from this one on, all of them at once where none has to wait. */
export const takeSteps = (exchange: Exchange, from = 0): void => {
  try {
    for (let index = from; index < steps.length && !exchange.response.headersSent; index++) {
      const waiting = steps[index]?.(exchange)
      if (waiting) {
        waiting.then(
          () => takeSteps(exchange, index + 1),
          (error) => refuse(exchange, error),
        )
        return
      }
    }
  } catch (error) {
    refuse(exchange, error)
  }
}
