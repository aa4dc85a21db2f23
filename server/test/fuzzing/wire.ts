import type { Body } from './fuzzed-bodies.ts'

export type Header = readonly [name: string, value: string]

/** How the end of a body is told: as it should be, or by a length that is not its own. */
export const framings = ['length', 'chunks', 'longer', 'shorter', 'two lengths', 'no length'] as const
export type Framing = (typeof framings)[number]

/** Everything of a request; texts may hold placeholders. */
export type Request = {
  method: string
  target: string
  headers: readonly Header[]
  body: Body | null
  framing: Framing
}

/** A request as it is sent. */
export type Wire = {
  method: string
  target: string
  headers: readonly Header[]
  bytes: Buffer
  /** It leaves the connection in a state in which nothing can follow: its end is missing, or not its end. */
  last: 'early' | 'late' | undefined
  /** For a person who wants to send it again. */
  curl: () => string
}

export const wireOf = (request: Request, fill: (text: string) => string): Wire => {
  const { method } = request
  const target = fill(request.target)
  const body =
    request.body &&
    Buffer.concat(request.body.map((part) => (typeof part === 'string' ? Buffer.from(fill(part)) : part)))
  const { framed, lengths, last } = frame(body, request.framing)
  const given = request.headers
    // With an upgrade that it ignores, Node's parser does not mind a missing end: the connection only closes.
    .filter(([name]) => last !== 'early' || name !== 'upgrade')
    .map(([name, value]): Header => [name, fill(value)])
  const headers: Header[] = [['host', 'masthead.test'], ...given, ...lengths]
  const head = [`${method} ${target} HTTP/1.1`, ...headers.map((header) => header.join(': '))]
  return {
    method,
    target,
    headers,
    last,
    bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), framed]),
    curl: () => curlLine(method, target, headers, framed),
  }
}

export const headersOf = ({ headers }: Wire, wanted: string): string[] =>
  headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value.trim())

type Framed = { framed: Buffer; lengths: Header[]; last?: 'early' | 'late' }

const frame = (body: Buffer | null, framing: Framing): Framed => {
  if (body === null) return { framed: Buffer.alloc(0), lengths: [] }
  const length = (bytes: number): Header => ['content-length', String(bytes)]
  switch (framing) {
    case 'length':
      return { framed: body, lengths: [length(body.length)] }
    case 'chunks':
      return { framed: chunked(body), lengths: [['transfer-encoding', 'chunked']] }
    case 'longer':
      return { framed: body, lengths: [length(body.length + 1)], last: 'early' }
    case 'shorter':
      return { framed: body, lengths: [length(Math.max(0, body.length - 1))], last: 'late' }
    case 'two lengths':
      return { framed: body, lengths: [length(body.length), length(body.length + 1)], last: 'late' }
    case 'no length':
      return { framed: body, lengths: [], last: 'late' }
  }
}

const chunked = (body: Buffer): Buffer => {
  const middle = body.length >> 1
  const chunks = [body.subarray(0, middle), body.subarray(middle)].filter(({ length }) => length > 0)
  const parts = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)};x=y\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...parts, Buffer.from('0\r\nx-trailer: y\r\n\r\n')])
}

const curlLine = (method: string, target: string, headers: readonly Header[], body: Buffer): string =>
  [
    `curl -i --path-as-is -X ${quoted(method)} ${quoted(`http://localhost:8080${target}`)}`,
    ...headers.map((header) => `-H ${quoted(header.join(': '))}`),
    ...(body.length > 0 ? [`--data-binary ${quoted(body)}`] : []),
  ].join(' ')

/** In the quotes of bash for any bytes; what is endless is cut off. */
export const quoted = (given: string | Buffer): string => {
  const text = Buffer.from(given).toString('latin1')
  const shown = text
    .slice(0, 3_000)
    .replaceAll(/[^\x20-\x7e]|['\\]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return `$'${shown}'${text.length > 3_000 ? ` # and ${text.length - 3_000} more bytes` : ''}`
}
