import { Refusal } from '../../refusal.ts'

/** How much a file may hold, unpacked, and what it may cost this process to read it. */
export type Bounds = { bytes: number; rows: number; processorSeconds: number }

export const boundless: Bounds = {
  bytes: Number.POSITIVE_INFINITY,
  rows: Number.POSITIVE_INFINITY,
  processorSeconds: Number.POSITIVE_INFINITY,
}

const remedy = 'split it into several files, or ask the operator of the service to import it from the command line'

export const tooManyBytes = (path: string, most: number): Refusal =>
  new Refusal(`${path} holds more than ${most.toLocaleString('en')} bytes, unpacked: ${remedy}`)

export const refuseTooMuch = (
  path: string,
  { rows, processorSeconds }: Bounds,
  count: number,
  { user, system }: NodeJS.CpuUsage,
): void => {
  if (count > rows) throw new Refusal(`${path} has more than ${rows.toLocaleString('en')} rows: ${remedy}`)
  if (user + system <= processorSeconds * 1_000_000) return
  throw new Refusal(`reading ${path} took more than ${processorSeconds} seconds of processor time: ${remedy}`)
}
