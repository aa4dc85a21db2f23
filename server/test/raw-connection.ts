import { connect } from 'node:net'
import type { CallAnswer } from './service.ts'

/** Sends these bytes, each piece once the former has left, and reads one answer: for what no HTTP client would send. */
export const sendRaw = (origin: string, ...pieces: (string | Uint8Array)[]): Promise<CallAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const socket = connect({ host: hostname, port: Number(port) })
    let received = Buffer.alloc(0)
    const read = () => {
      const answer = parse(received)
      if (answer) resolve(answer)
      else reject(new Error(`the connection ended after ${JSON.stringify(received.toString().slice(0, 200))}`))
      socket.destroy()
    }
    socket.setNoDelay()
    socket.setTimeout(5_000, read)
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      if (parse(received)) read()
    })
    socket.once('close', read)
    // A service that refuses early closes while we still write; what it said before that counts.
    socket.on('error', () => {})
    socket.once('connect', async () => {
      for (const piece of pieces) await new Promise((done) => socket.write(piece, done))
    })
  })

/** Null while the answer is not complete. */
const parse = (bytes: Buffer): CallAnswer | null => {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
  const length = Number(headers.get('content-length') ?? 0)
  const content = bytes.subarray(end + 4)
  if (content.length < length) return null
  const text = content.subarray(0, length).toString()
  const isJson = /json/.test(headers.get('content-type') ?? '') && text !== ''
  return { status: Number(statusLine.split(' ')[1]), headers, body: isJson ? JSON.parse(text) : null, text }
}
