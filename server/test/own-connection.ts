import { type Agent, request } from 'node:http'

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
  new Promise((resolve) => {
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...given,
    }
    const sent = request(origin + path, { method, headers, agent: agent ?? false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.once('close', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', () => resolve(null)).end(body && JSON.stringify(body))
  })
