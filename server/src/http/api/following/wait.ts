import type { HandlerResult } from '../../../operation-call.ts'
import { type Exchange, found } from '../exchange.ts'
import { follow } from './follow.ts'
import { Watch } from './watch.ts'

/** Reads until there is news, for so many seconds; what is read last is the result. */
export const waitForNews = async (
  exchange: Exchange,
  seconds: number,
  read: () => Promise<HandlerResult>,
): Promise<HandlerResult> => {
  const deadline = performance.now() + seconds * 1_000
  const { tenantId } = found(exchange.principal)
  const { records: seen } = exchange.versions ?? (await exchange.api.askVersions(tenantId))
  const result = await read()
  if (!found(result.news).isEmpty) return result
  const seat = await follow(exchange, 'waiting calls')
  const watch = new Watch(exchange, { seen, deadline })
  try {
    return await readAgain(watch, result, read)
  } finally {
    watch.close()
    seat.leave()
    exchange.work()
  }
}

const readAgain = async (
  watch: Watch,
  former: HandlerResult,
  read: () => Promise<HandlerResult>,
): Promise<HandlerResult> => {
  for (let result = former; ; result = await read())
    if (!found(result.news).isEmpty || (await watch.next()) !== 'moved') return result
}
