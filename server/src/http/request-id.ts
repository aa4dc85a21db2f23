import { randomBytes } from 'node:crypto'

/** As the caller chose it, where it may stand in a log. */
export const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newRequestId()

const length = 32
const drawnBytes = 4_096
let drawn = ''
let next = 0

/** By chance, so that no two are the same on whatever node; many are drawn at once, because each costs more alone. */
export const newRequestId = (): string => {
  if (next === drawn.length) {
    drawn = randomBytes(drawnBytes).toString('hex')
    next = 0
  }
  next += length
  return drawn.slice(next - length, next)
}
