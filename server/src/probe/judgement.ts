import type { Canary } from './canaries.ts'
import type { Answer } from './live-service.ts'

/** Differ from answer to answer, whoever asks. */
const ownOfAnswer = new Set(['date', 'x-request-id', 'ratelimit', 'content-length', 'connection', 'keep-alive'])

/** What an answer shows that its caller may not see; null when it is nothing. `word` is in all that callers write. */
export const foreignIn = (answer: Answer, own: Canary, other: Canary, word: string): string | null => {
  const places = [['status line', answer.statusText], ...answer.headers, ['body', answer.text]] as const
  const isNews = (canary: string) => !answer.sent.includes(canary)
  // Most show nothing at all, so all is looked through at once.
  if (canariesIn(places.map(([, text]) => text).join('\n'), other).some(isNews)) {
    const [place = ''] = places.find(([, text]) => canariesIn(text, other).some(isNews)) ?? []
    return `something of the other tenant is in the ${answer.headers.has(place) ? `header ${place}` : place}`
  }
  if (answer.status === 304) return 'the answer is 304 to the tag of the other tenant'
  if (answer.status < 200 || answer.status > 299) return null
  const { items, total, page, pageSize } = pageOf(answer.body)
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

type Page = { items: unknown[]; total: number | null; page: number | null; pageSize: number }

/** The records of an answer; one that is no page holds one. */
const pageOf = (body: unknown): Page => {
  const { items, total, page, pageSize } = Object(body)
  if (!Array.isArray(items)) return { items: [body], total: null, page: null, pageSize: 1 }
  return { items, total: typeof total === 'number' ? total : null, page: Number(page), pageSize: Number(pageSize) }
}

const isOf = (record: unknown, { mark }: Canary, word: string): boolean => {
  const text = JSON.stringify(record) ?? ''
  return text.includes(mark) || text.includes(word)
}

/** How an answer about the other tenant's differs from one about what does not exist; null when it does not. */
export const difference = (theirs: Answer, nowhere: Answer): string | null => {
  if (theirs.status !== nowhere.status)
    return `the answer is ${described(theirs)}, and ${described(nowhere)} for what does not exist`
  const [shown, standard] = [headerNames(theirs), headerNames(nowhere)]
  const header = [...shown, ...standard].find((name) => !shown.has(name) || !standard.has(name))
  if (header)
    return `the header ${header} is ${shown.has(header) ? 'there' : 'missing'}, unlike for what does not exist`
  // Two records that were just made are two.
  if (theirs.status === 201 || essence(theirs) === essence(nowhere)) return null
  return `the answer is ${described(theirs)}, in other words than for what does not exist`
}

const headerNames = ({ headers }: Answer): Set<string> =>
  new Set([...headers.keys()].filter((name) => !ownOfAnswer.has(name)))

const described = ({ status, body }: Answer): string =>
  status < 400 ? String(status) : `${status} ${Object(body).code}`

/** All but what was said by the caller or belongs to the one answer. */
const essence = ({ headers, text, requestId, sent }: Answer): string => {
  const said = new Set(sent.match(/[\w.-]{8,}/g))
  const values = [...headers].filter(([name]) => !ownOfAnswer.has(name)).map(([name, value]) => `${name}: ${value}`)
  let rest = `${values.join('\n')}\n${text}`.replaceAll(requestId, '')
  for (const word of [...said].sort((one, two) => two.length - one.length)) rest = rest.replaceAll(word, '…')
  // The version of the caller's own record, which its other tokens change meanwhile.
  return rest.replaceAll(/"[\w-]{27}"|\\"[\w-]{27}\\"/g, 'a tag')
}
