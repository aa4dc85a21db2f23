import type { Ask } from './slice.ts'

/** A request as it goes over the wire. From `counterAt` on stand eight characters that become another number each time. */
export type Rendered = { bytes: Buffer; counterAt: number }

const counterMark = '########'
export const counterLength = counterMark.length
export const counterEnd = 10 ** counterLength
/** Such that two runs write other numbers. */
export const firstCounter = (): number => Math.floor(Date.now() / 10) % counterEnd

export const render = ({ method = 'GET', path, token, headers = {}, body }: Ask): Rendered => {
  const content = body ? JSON.stringify(body) : ''
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(token ? [`Authorization: Bearer ${token}`] : []),
    ...(body ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`] : []),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${content}`)
  return { bytes, counterAt: bytes.indexOf(counterMark) }
}
