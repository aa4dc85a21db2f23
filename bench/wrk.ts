import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { counterEnd, counterLength, firstCounter, type Rendered, render } from './rendered.ts'
import type { Loaded, Slice } from './slice.ts'

export const hasWrk = (): boolean => spawnSync('wrk', ['--version']).error === undefined

/** By one thread of wrk. Requests in flight at the end do not count, so a slice must be long enough for many. */
export const measureByWrk = async ({ origin, connections, seconds, asks }: Slice): Promise<Loaded> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-bench-'))
  try {
    const script = join(folder, 'requests.lua')
    await writeFile(script, scriptOf(asks.map(render)), 'latin1')
    const words = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, origin]
    const wrk = spawn('wrk', words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [printed] = await Promise.all([text(wrk.stdout), once(wrk, 'exit')])
    const last = printed.trimEnd().split('\n').at(-1) ?? ''
    if (!last.startsWith('{')) throw new Error(`wrk failed: ${printed}`)
    const { errors, ...loaded } = JSON.parse(last)
    if (errors > 0) throw new Error(`${errors} of ${loaded.count} requests failed`)
    return loaded
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Sends the requests in turn, from a random one on. What is printed at the end is `Loaded`; wrk counts microseconds. */
const scriptOf = (requests: Rendered[]): string => `
local heads = {${requests.map((request) => literal(partsOf(request)[0])).join(',\n')}}
local tails = {${requests.map((request) => literal(partsOf(request)[1])).join(',')}}
local turn = ${Math.floor(Math.random() * requests.length)}
local counter = ${firstCounter()}

function request()
  turn = turn % #heads + 1
  if tails[turn] == '' then return heads[turn] end
  counter = (counter + 1) % ${counterEnd}
  return heads[turn] .. string.format('%0${counterLength}d', counter) .. tails[turn]
end

function done(summary, latency)
  local seconds = summary.duration / 1e6
  local errors = summary.errors
  io.write(string.format(
    '{"count":%d,"errors":%d,"seconds":%f,"rate":%f,"p50":%f,"p99":%f,"busy":%f}\\n',
    summary.requests, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    seconds, summary.requests / seconds, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, os.clock() / seconds
  ))
end
`

/** What stands before the counter and after it. */
const partsOf = ({ bytes, counterAt }: Rendered): [before: Buffer, after: Buffer] =>
  counterAt < 0 ? [bytes, Buffer.alloc(0)] : [bytes.subarray(0, counterAt), bytes.subarray(counterAt + counterLength)]

const literal = (bytes: Buffer): string =>
  `'${bytes.toString('latin1').replaceAll(/[^ !#-&(-[\]-~]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`)}'`
