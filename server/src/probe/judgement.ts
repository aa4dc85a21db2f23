import type { Canary } from './canaries.ts'
import type { ServiceResponse } from './live-service.ts'

/** These differ from response to response for every caller. */
const volatileHeaders = new Set(['date', 'x-request-id', 'ratelimit', 'content-length', 'connection', 'keep-alive'])

/** Returns what a response shows that its caller may not see. `word` is in every text that callers write. */
export const foreignIn = (response: ServiceResponse, own: Canary, other: Canary, word: string): string | null => {
  const places = [['status line', response.statusText], ...response.headers, ['body', response.text]] as const
  const isNews = (canary: string) => !response.sent.includes(canary)
  // Most responses show nothing, so all of it is searched at once.
  if (canariesIn(places.map(([, text]) => text).join('\n'), other).some(isNews)) {
    const [place = ''] = places.find(([, text]) => canariesIn(text, other).some(isNews)) ?? []
    return `something of the other tenant is in the ${response.headers.has(place) ? `header ${place}` : place}`
  }
  if (response.status === 304) return 'the response is 304 to the tag of the other tenant'
  if (response.status < 200 || response.status > 299) return null
  const { items, total, page, pageSize } = pageOf(response.body ?? response.text)
  if (items.some((item) => !isOf(item, own, word))) return 'a record of a third tenant is in the body'
  if (page === 1 && total !== null && items.length !== Math.min(total, pageSize))
    return `the total is ${total}, but the page of ${pageSize} shows ${items.length}`
  return null
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const canariesIn = (text: string, { mark, ids }: Canary): string[] => [
  ...(text.match(uuid) ?? []).filter((id) => ids.has(id)),
  ...(text.match(new RegExp(`${mark}-\\d+`, 'g')) ?? []),
]

/** A response that is no page holds one record. */
const pageOf = (body: unknown) => {
  const { items, total, page, pageSize } = Object(body)
  if (!Array.isArray(items)) return { items: [body], total: null, page: null, pageSize: 1 }
  return { items, total: typeof total === 'number' ? total : null, page: Number(page), pageSize: Number(pageSize) }
}

const isOf = (record: unknown, { mark }: Canary, word: string): boolean => {
  const text = JSON.stringify(record) ?? ''
  return text.includes(mark) || text.includes(word)
}

/** Returns how a response about records of the other tenant differs from one about what does not exist. */
export const difference = (theirs: ServiceResponse, nowhere: ServiceResponse): string | null => {
  if (theirs.status !== nowhere.status)
    return `the response is ${described(theirs)}, and ${described(nowhere)} for what does not exist`
  const [shown, standard] = [headerNames(theirs), headerNames(nowhere)]
  const header = [...shown, ...standard].find((name) => !shown.has(name) || !standard.has(name))
  if (header)
    return `the header ${header} is ${shown.has(header) ? 'there' : 'missing'}, unlike for what does not exist`
  // Two records that were just created always differ.
  if (theirs.status === 201 || essence(theirs) === essence(nowhere)) return null
  return `the response is ${described(theirs)}, in other words than for what does not exist`
}

const headerNames = ({ headers }: ServiceResponse): Set<string> =>
  new Set([...headers.keys()].filter((name) => !volatileHeaders.has(name)))

const described = ({ status, body }: ServiceResponse): string =>
  status < 400 ? String(status) : `${status} ${Object(body).code}`

/** Leaves out what echoes the request or belongs to this response alone. */
const essence = ({ headers, text, requestId, sent }: ServiceResponse): string => {
  const said = new Set(sent.match(/[\w.-]{8,}/g))
  const values = [...headers].filter(([name]) => !volatileHeaders.has(name)).map(([name, value]) => `${name}: ${value}`)
  let rest = `${values.join('\n')}\n${text}`.replaceAll(requestId, '')
  for (const word of [...said].sort((one, two) => two.length - one.length)) rest = rest.replaceAll(word, '…')
  // Other tokens of the caller change the version of its own record meanwhile.
  return rest.replaceAll(/"[\w-]{27}"|\\"[\w-]{27}\\"/g, 'a tag')
}
