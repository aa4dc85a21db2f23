import type { Config } from '../config.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { openRedisCounters } from '../counters/redis-counters.ts'
import { messageOf } from '../error-message.ts'
import { type Check, ok, warning } from './finding.ts'

export const redisChecks = ({ redisUrl }: Config): Record<string, Check> =>
  redisUrl === null ? {} : { redis: () => checkRedis(redisUrl) }

const checkRedis = async (url: string) => {
  const troubles: unknown[] = []
  const counters = await openRedisCounters(url, new MemoryCounters(), (_message, error) => troubles.push(error))
  await counters.close()
  if (troubles.length === 0) return ok('that of REDIS_URL answers')
  return warning(
    `that of REDIS_URL does not answer, so each node counts requests on its own: ${troubles.map(messageOf).join(', ')}`,
    'see that it runs, and that it can be reached from this machine with the password of REDIS_URL',
  )
}
