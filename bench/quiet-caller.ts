import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Served } from './served.ts'

const quietEachSecond = 40

export const newToken = ({ masthead }: Served, tenant: string): string => {
  const options = `--tenant ${tenant} --service bench --name bench --json --expires 1d --scopes contacts:read,contacts:write,accounts:read`
  return JSON.parse(masthead('token', 'create', ...options.split(' '))).token
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

export const read = ({ api }: Served, token: string, path: string): Promise<string> =>
  new Promise((done, fail) => {
    get(api + path, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      text(response).then((body) => (response.statusCode === 200 ? done(body) : fail(new Error(body))), fail)
    }).on('error', fail)
  })

/** Reads for so long, each at its time whether or not the one before was answered; says how long each took. */
export const newQuietCaller = async (served: Served) => {
  const tokens = [1, 2, 3].map(() => newToken(served, 'quiet'))
  const call = (path: string, number: number) => read(served, tokens[number % tokens.length] ?? '', path)
  const { items } = JSON.parse(await call('/contacts?page=7', 0))
  return async (milliseconds: number): Promise<number[]> => {
    const measured: Promise<number>[] = []
    for (let number = 0, begun = performance.now(); ; number++) {
      const due = begun + (number * 1_000) / quietEachSecond
      if (due > begun + milliseconds) break
      await delay(Math.max(0, due - performance.now()))
      const path =
        number % 2 === 0 ? `/contacts/${items[number % items.length].id}` : `/contacts?page=${(number % 100) + 1}`
      measured.push(call(path, number).then(() => performance.now() - due))
    }
    return Promise.all(measured)
  }
}
