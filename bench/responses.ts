import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Kept } from './limits/memory.ts'
import type { Ask } from './slice.ts'

/** One response in full, with its headers as they were sent. */
export const responseTo = (origin: string, { method = 'GET', path, token, headers = {} }: Ask): Promise<Kept> =>
  new Promise((done, fail) => {
    const sent = { ...headers, ...(token && { authorization: `Bearer ${token}` }) }
    request(origin + path, { method, headers: sent, agent: false }, async (response) => {
      const body = await text(response)
      done({ status: response.statusCode ?? 0, headers: ownHeaders(response.rawHeaders), body })
    })
      .on('error', fail)
      .end()
  })

/** Without those that any server of Node adds by itself. */
const ownHeaders = (raw: string[]): string[] =>
  raw.flatMap((name, index) =>
    index % 2 === 0 && !/^(date|connection|keep-alive)$/i.test(name) ? [name, raw[index + 1] ?? ''] : [],
  )

export const entityTagOf = ({ headers }: Kept): string => {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'etag')
  if (at < 0) throw new Error('a response has no entity tag')
  return headers[at + 1] ?? ''
}
