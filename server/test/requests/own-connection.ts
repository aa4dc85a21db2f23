import { type Agent, type IncomingMessage, request } from 'node:http'
import { judge } from './judged-responses.ts'

export type Sent = {
  method?: string
  token?: string
  body?: object
  headers?: Record<string, string>
  agent?: Agent
}

/** Over a connection of its own, unless an agent keeps one. Null when the connection broke. */
export const callAlone = (
  origin: string,
  path: string,
  { method = 'GET', token, body, headers: given = {}, agent }: Sent = {},
): Promise<{ status: number; text: string } | null> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...given,
    }
    const sent = request(origin + path, { method, headers, agent: agent ?? false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.once('close', () => {
        const answer = { status: response.statusCode ?? 0, text }
        try {
          if (response.complete) judge(method, origin + path, { ...answer, headers: headersOf(response) })
          resolve(answer)
        } catch (error) {
          reject(error)
        }
      })
    })
    sent.once('error', () => resolve(null)).end(body && JSON.stringify(body))
  })

const headersOf = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(Object.entries(headersDistinct).map(([name, values]): [string, string] => [name, String(values)]))
