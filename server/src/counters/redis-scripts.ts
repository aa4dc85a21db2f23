import { type CommandParser, defineScript } from '@redis/client'

/**
 * Keys: a window for each budget and, where requests at once are limited, the set of those under way. Arguments: the
 * length of a window, a quota for each budget and, where they are limited, how many may be under way, how long one counts
 * at most and what it is called. All times are milliseconds by the clock of Redis.
 */
const takeText = `
local budgets = #ARGV == #KEYS + 1 and #KEYS or #KEYS - 1
local running = KEYS[budgets + 1]
local refused = 0
local answer = {}
for place = 1, budgets do
  local used = tonumber(redis.call('GET', KEYS[place]) or '0')
  local left = redis.call('PTTL', KEYS[place])
  if refused == 0 and used >= tonumber(ARGV[place + 1]) then refused = place end
  answer[2 * place - 1] = used
  answer[2 * place] = left > 0 and left or tonumber(ARGV[1])
end
if running and refused == 0 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', running, '-inf', now)
  if redis.call('ZCARD', running) >= tonumber(ARGV[budgets + 2]) then
    refused = -1
  else
    redis.call('ZADD', running, now + ARGV[budgets + 3], ARGV[budgets + 4])
    redis.call('PEXPIRE', running, ARGV[budgets + 3])
  end
end
if refused == 0 then
  for place = 1, budgets do
    answer[2 * place - 1] = redis.call('INCR', KEYS[place])
    if redis.call('PTTL', KEYS[place]) < 0 then redis.call('PEXPIRE', KEYS[place], ARGV[1]) end
  end
end
table.insert(answer, 1, refused)
return answer`

/** Keys: the windows that were charged. One that is over is not begun anew. */
const refundText = `
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
return 0`

const parseCommand = (parser: CommandParser, keys: string[], values: string[] = []): void => {
  parser.pushKeysLength(keys)
  parser.push(...values)
}

/** Sent by their digests; with their texts only to a Redis that has not seen them. */
export const scripts = {
  /** Answers 0, the place of the budget that is spent or -1, and of each budget what is used and how long its window lasts. */
  take: defineScript({ SCRIPT: takeText, parseCommand, transformReply: (reply: unknown) => reply as number[] }), // as the text above returns
  refund: defineScript({ SCRIPT: refundText, parseCommand, transformReply: () => undefined }),
}
