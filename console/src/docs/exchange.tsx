import { Badge } from '../design/badge.tsx'
import { Code } from './code.tsx'

export type Request = { method: 'GET' | 'POST'; url: string; headers?: Record<string, string>; body?: URLSearchParams }
export type Answer = { status: number; headers: readonly (readonly [string, string])[]; text: string; body: unknown }
export type Exchange = { request: Request; answer: Answer }

/** The ones that say something to who builds with the API. */
const telling = [
  'content-type',
  'location',
  'link',
  'etag',
  'retry-after',
  'idempotency-replayed',
  'www-authenticate',
  'ratelimit',
  'ratelimit-policy',
  'x-request-id',
]

/** Really sent, by this page. */
export const send = async (request: Request): Promise<Exchange> => {
  const { method, url, headers = {}, body = null } = request
  const response = await fetch(url, { method, headers, body, cache: 'no-store' })
  const text = await response.text()
  const shown = telling.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { request, answer: { status: response.status, headers: shown, text, body: parse(text) } }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Tokens as they are copied are long; their beginnings tell them apart. */
const clip = (text: string): string => text.replace(/[\w.~+/-]{80,}/g, (long) => `${long.slice(0, 48)}…`)

const written = ({ method, url, headers = {}, body }: Request): string => {
  const { pathname, search, host } = new URL(url)
  const lines = [`${method} ${pathname}${search}`, `host: ${host}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body) lines.push('content-type: application/x-www-form-urlencoded', '', [...body].map(pair).join('\n&'))
  return clip(lines.join('\n'))
}
const pair = ([name, value]: [string, string]): string => `${name}=${encodeURIComponent(value)}`

export const RequestText = ({ request, label }: { request: Request; label: string }) => (
  <Code text={written(request)} label={label} />
)

type AnswerTextProps = { answer: Answer; to: string }

/** What was answered. Said aloud when it comes. */
export const AnswerText = ({ answer: { status, headers, text, body }, to }: AnswerTextProps) => {
  const content = body === undefined ? text : JSON.stringify(body, null, 2)
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return (
    <div className="answer fades-in">
      <output className="answer-status">
        Answer <Badge tone={status < 400 ? 'good' : 'problem'}>{status}</Badge>
      </output>
      <Code text={clip([...lines, '', content].join('\n'))} label={`Answer ${status}: ${to}`} />
    </div>
  )
}
