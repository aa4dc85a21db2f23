import { randomBytes } from 'node:crypto'

const drawnBytes = 4_096
let drawn = ''
let next = 0

/** So many digits, by chance. For what is not secret: many are drawn at once, because each draw costs more than its digits. */
export const randomHex = (length: number): string => {
  if (next + length > drawn.length) {
    drawn = randomBytes(drawnBytes).toString('hex')
    next = 0
  }
  next += length
  return drawn.slice(next - length, next)
}
