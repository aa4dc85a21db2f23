import { type CommandParser, defineScript } from '@redis/client'

/**
 * Keys: a window for each budget and, with a limit of requests in flight, the set of their leases. Arguments: the length of
 * a window, a quota for each budget and, with that limit, the limit, the length of a lease and its name. Times are
 * milliseconds by the clock of Redis. Returns 0, the place of the spent budget or -1 for the limit, and for each budget the
 * used requests and the time left.
 */
const takeText = `
local budgets = #ARGV == #KEYS + 1 and #KEYS or #KEYS - 1
local running = KEYS[budgets + 1]
local refused = 0
local reply = {}
for place = 1, budgets do
  local used = tonumber(redis.call('GET', KEYS[place]) or '0')
  local left = redis.call('PTTL', KEYS[place])
  if refused == 0 and used >= tonumber(ARGV[place + 1]) then refused = place end
  reply[2 * place - 1] = used
  reply[2 * place] = left > 0 and left or tonumber(ARGV[1])
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
    reply[2 * place - 1] = redis.call('INCR', KEYS[place])
    if redis.call('PTTL', KEYS[place]) < 0 then redis.call('PEXPIRE', KEYS[place], ARGV[1]) end
  end
end
table.insert(reply, 1, refused)
return reply`

/** Keys: the windows that were charged. A window that has ended does not begin again. */
const refundText = `
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
return 0`

const parseCommand = (parser: CommandParser, keys: string[], values: string[] = []): void => {
  parser.pushKeysLength(keys)
  parser.push(...values)
}

/** The client sends the digest of a script, and its text only to a Redis that does not know it. */
export const scripts = {
  take: defineScript({ SCRIPT: takeText, parseCommand, transformReply: (reply: unknown) => reply as number[] }), // as the text above returns
  refund: defineScript({ SCRIPT: refundText, parseCommand, transformReply: () => undefined }),
}
