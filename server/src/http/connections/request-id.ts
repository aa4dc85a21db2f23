import { randomUUID } from 'node:crypto'

/** As the caller chose it, where it may stand in a log. */
export const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newRequestId()

/** No two are the same, on whatever node. */
export const newRequestId = (): string => randomUUID().replaceAll('-', '')
