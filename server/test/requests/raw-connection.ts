import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { CallResponse } from '../service.ts'
import { judge } from './judged-responses.ts'

/** Sends these bytes, each piece once the former has left, and reads one answer: for what no HTTP client would send. */
export const sendRaw = async (origin: string, ...pieces: (string | Uint8Array)[]): Promise<CallResponse> => {
  const answer = await exchange(origin, pieces)
  // What has no such line asks for nothing that the document could promise.
  const [, method, target = ''] = /^([A-Z]+) (\S+) HTTP\/1/.exec(pieces.join('')) ?? []
  if (method && URL.canParse(target, origin)) judge(method, new URL(target, origin).href, answer)
  return answer
}

const exchange = (origin: string, pieces: (string | Uint8Array)[]): Promise<CallResponse> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) })
    let received = Buffer.alloc(0)
    const read = () => {
      const [answer] = readAnswer(received) ?? []
      if (answer) resolve(answer)
      else reject(new Error(`the connection ended after ${JSON.stringify(received.toString().slice(0, 200))}`))
      socket.destroy()
    }
    socket.setNoDelay()
    socket.setTimeout(longestWaitMilliseconds, read)
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      if (readAnswer(received)) read()
    })
    socket.once('close', read)
    // A service that refuses early closes while we still write; what it said before that counts.
    socket.on('error', () => {})
    socket.once('connect', async () => {
      for (const piece of pieces) await new Promise((done) => socket.write(piece, done))
    })
  })

const longestWaitMilliseconds = 50_000

/** One connection after another, each kept for as long as the service keeps it: thousands of requests as bytes. */
export class KeptConnection {
  readonly #address: { host: string; port: number }
  #socket: Socket | null = null
  #received = Buffer.alloc(0)
  #wake: () => void = () => {}

  constructor(origin: string) {
    const { hostname, port } = new URL(origin)
    this.#address = { host: hostname, port: Number(port) }
  }

  /** The answer to one request. The last one of a connection may end before its end, or after it. */
  async send(method: string, bytes: Uint8Array, last?: 'early' | 'late'): Promise<CallResponse> {
    const socket = await this.#connected()
    const deadline = setTimeout(() => socket.destroy(), longestWaitMilliseconds)
    if (last === 'early') socket.end(bytes)
    else socket.write(bytes)
    try {
      return await this.#answer(socket, method, last !== undefined)
    } finally {
      clearTimeout(deadline)
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #connected(): Promise<Socket> {
    if (this.#socket) return this.#socket
    const socket = connect(this.#address)
    this.#received = Buffer.alloc(0)
    socket.setNoDelay()
    // A service that refuses early closes while we still write; what it said before that counts.
    socket.on('error', () => {})
    socket.on('data', (data) => {
      this.#received = Buffer.concat([this.#received, data])
      this.#wake()
    })
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null
      this.#wake()
    })
    await once(socket, 'connect')
    this.#socket = socket
    return socket
  }

  async #answer(socket: Socket, method: string, isLast: boolean): Promise<CallResponse> {
    for (;;) {
      const [answer, length] = readAnswer(this.#received, method) ?? []
      if (answer && length !== undefined) {
        const rest = this.#received.subarray(length)
        this.#received = rest
        if (isLast || answer.headers.get('connection') === 'close') this.close()
        // What follows an answer would be taken for the answer to the next request.
        else if (rest.length > 0) throw new Error(`bytes follow the answer: ${JSON.stringify(rest.toString())}`)
        return answer
      }
      if (socket.destroyed) {
        this.close()
        throw new Error(`no answer, but ${JSON.stringify(this.#received.toString().slice(0, 200))} and the end`)
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}

/** By the names of encodings. */
export const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

/** The first final answer and how many bytes it ends after; null while it is not complete. */
const readAnswer = (bytes: Buffer, method = ''): [CallResponse, number] | null => {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  const start = end + 4
  if (status < 200) {
    const [answer, length = 0] = readAnswer(bytes.subarray(start), method) ?? []
    return answer ? [answer, start + length] : null
  }
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  const length = isEmpty ? 0 : Number(headers.get('content-length') ?? 0)
  if (bytes.length < start + length) return null
  const body = bytes.subarray(start, start + length)
  const decode = decoders[headers.get('content-encoding') ?? '']
  const text = (decode && !isEmpty ? decode(body) : body).toString()
  const isJson = /json/.test(headers.get('content-type') ?? '') && text !== ''
  return [{ status, headers, body: isJson ? JSON.parse(text) : null, text }, start + length]
}
