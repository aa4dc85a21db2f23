import { basePath, changePages, pageSizes } from '@masthead/contract'

/** What differs from reader to reader. */
export type Place = { baseUrl: string; token: string; accountId: string; contactId: string }

export const languages = { curl: 'curl', fetch: 'fetch', client: '@masthead/client' } as const
export type Language = keyof typeof languages

export type Example = {
  /** The path of a call that only reads, which the page can make itself. */
  get?: (place: Place) => string
  code: { [L in Language]: (place: Place) => string }
}

const header = (place: Place): string => `-H "Authorization: Bearer ${place.token}"`
const api = ({ baseUrl }: Place): string => baseUrl + basePath
const newClient = ({ baseUrl, token }: Place): string =>
  `const masthead = new Masthead({ baseUrl: '${baseUrl}', token: '${token}' })`

const getByCurl = (place: Place, path: string): string => `curl -i ${header(place)} \\
  "${api(place)}${path}"`
const getByFetch = (place: Place, path: string): string => `const answer = await fetch('${api(place)}${path}', {
  headers: { authorization: 'Bearer ${place.token}' },
})
console.log(answer.status, await answer.json())`

const reading = (path: (place: Place) => string, client: (place: Place) => string): Example => ({
  get: path,
  code: {
    curl: (place) => getByCurl(place, path(place)),
    fetch: (place) => getByFetch(place, path(place)),
    client,
  },
})

/** All code that the portal shows. A test runs each of them against a service. */
export const examples = {
  firstCall: reading(
    () => '/contacts?pageSize=2',
    (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
const page = await masthead.contacts.list({ pageSize: 2 })
console.log(page.total, page.items)`,
  ),

  onePage: reading(
    () => '/contacts?page=2&pageSize=10',
    (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
const { items, page, total } = await masthead.contacts.list({ page: 2, pageSize: 10 })
console.log(\`page \${page}: \${items.length} of \${total}\`)`,
  ),

  walk: {
    code: {
      curl: (place) => `next="${api(place)}/contacts?pageSize=${pageSizes.maximum}"
while [ -n "$next" ]; do
  curl -sS -D headers.txt ${header(place)} "$next"
  next=$(sed -n 's/^[Ll]ink:.*<\\([^>]*\\)>; rel="next".*/\\1/p' headers.txt)
done`,
      fetch: (place) => `let next = '${api(place)}/contacts?pageSize=${pageSizes.maximum}'
while (next) {
  const answer = await fetch(next, { headers: { authorization: 'Bearer ${place.token}' } })
  if (!answer.ok) throw new Error(await answer.text())
  const { items } = await answer.json()
  for (const contact of items) console.log(contact.id, contact.name)
  next = answer.headers.get('link')?.match(/<([^>]+)>; rel="next"/)?.[1]
}`,
      client: (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
for await (const contact of masthead.contacts.list({ pageSize: ${pageSizes.maximum} })) {
  console.log(contact.id, contact.name)
}`,
    },
  },

  resume: {
    code: {
      curl: (place) => `cursor=$(curl -sS -D - -o first.json ${header(place)} "${api(place)}/contacts?pageSize=1" |
  sed -n 's/.*[?&]cursor=\\([^>&]*\\)[^>]*>; rel="next".*/\\1/p')
echo "$cursor" > cursor.txt

# A day later, with the same filters:
curl -sS ${header(place)} "${api(place)}/contacts?pageSize=1&cursor=$(cat cursor.txt)"`,
      fetch: (place) => `const contacts = '${api(place)}/contacts?pageSize=1'
const headers = { authorization: 'Bearer ${place.token}' }
const first = await fetch(contacts, { headers })
const next = first.headers.get('link')?.match(/<([^>]+)>; rel="next"/)?.[1]
const cursor = next && new URL(next).searchParams.get('cursor') // store it

// A day later, with the same filters:
if (cursor) console.log(await (await fetch(\`\${contacts}&cursor=\${cursor}\`, { headers })).json())`,
      client: (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
const page = await masthead.contacts.list({ pageSize: 1 })
const cursor = page.nextCursor // store it; null after the last page

// A day later, with the same filters:
if (cursor) for await (const contact of masthead.contacts.list({ pageSize: 1, cursor })) console.log(contact.id)`,
    },
  },

  changes: reading(
    () => '/changes?resources=contacts&limit=2',
    (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
for await (const { items, cursor } of masthead.changes.walk({ resources: ['contacts'], limit: 2 })) {
  for (const { id, change, record } of items) console.log(id, change, record?.name)
  console.log(cursor)
}`,
  ),

  keepCopy: {
    code: {
      curl: (place) => `touch cursor.txt
while :; do
  after=$(cat cursor.txt)
  curl -sS -f -o page.json ${header(place)} \\
    "${api(place)}/changes?limit=${changePages.maximum}\${after:+&after=$after}"
  cat page.json # apply its items here, in their order
  sed 's/.*"cursor":"\\([^"]*\\)","hasMore":[a-z]*}$/\\1/' page.json > cursor.txt
  grep -q '"hasMore":true}$' page.json || break
done`,
      fetch: (place) => `import { readFile, writeFile } from 'node:fs/promises'

const headers = { authorization: 'Bearer ${place.token}' }
let cursor = await readFile('cursor.txt', 'utf8').catch(() => null)
for (let hasMore = true; hasMore; ) {
  const after = cursor ? \`&after=\${cursor}\` : ''
  const answer = await fetch(\`${api(place)}/changes?limit=${changePages.maximum}\${after}\`, { headers })
  if (!answer.ok) throw new Error(await answer.text())
  const page = await answer.json()
  for (const { resource, id, change } of page.items) console.log(resource, id, change) // apply it here
  cursor = page.cursor
  hasMore = page.hasMore
  await writeFile('cursor.txt', cursor) // together with what was applied
}`,
      client: (place) => `import { readFile, writeFile } from 'node:fs/promises'
import { Masthead } from '@masthead/client'

${newClient(place)}
const after = await readFile('cursor.txt', 'utf8').catch(() => null)
for await (const { items, cursor } of masthead.changes.walk({ after, limit: ${changePages.maximum} })) {
  for (const { resource, id, change } of items) console.log(resource, id, change) // apply it here
  await writeFile('cursor.txt', cursor) // together with what was applied
}`,
    },
  },

  follow: {
    code: {
      curl: (place) => `curl -sS -N ${header(place)} \\
  -H "Accept: text/event-stream" "${api(place)}/changes"`,
      fetch: (place) => `const answer = await fetch('${api(place)}/changes', {
  headers: { authorization: 'Bearer ${place.token}', accept: 'text/event-stream' },
})
// Where it ends, connect again, with the last id in the header Last-Event-ID.
for await (const text of answer.body.pipeThrough(new TextDecoderStream())) console.log(text)`,
      client: (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())

// Reconnects by itself, and goes on where it was.
for await (const { items, cursor } of masthead.changes.follow({ signal: stop.signal })) {
  for (const { resource, id, change } of items) console.log(resource, id, change)
  console.log(cursor) // store it with what was applied; give it as \`after\` next time
}`,
    },
  },

  search: reading(
    () => '/contacts?search=ada%20example',
    (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
for await (const contact of masthead.contacts.list({ search: 'ada example' })) {
  console.log(contact.name, contact.email)
}`,
  ),

  searchInAccount: reading(
    ({ accountId }) => `/contacts?search=example&accountId=${accountId}&includeHidden=true`,
    (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
const query = { search: 'example', accountId: '${place.accountId}', includeHidden: true }
const { total, items } = await masthead.contacts.list(query)
console.log(total, items)`,
  ),

  createOnce: {
    code: {
      curl: (place) => `curl -i --retry 3 -X POST ${header(place)} \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: web-form-2026-11-15-0042" \\
  -d '{"accountId": "${place.accountId}", "firstName": "Ada", "lastName": "Lovelace"}' \\
  "${api(place)}/contacts"`,
      fetch: (place) => `const request = {
  method: 'POST',
  headers: {
    authorization: 'Bearer ${place.token}',
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(), // made once, sent with every attempt
  },
  body: JSON.stringify({ accountId: '${place.accountId}', firstName: 'Ada', lastName: 'Lovelace' }),
}
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

let answer
for (let attempt = 0; attempt < 4; attempt++) {
  if (attempt > 0) await sleep(Number(answer?.headers.get('retry-after') ?? 1) + Math.random() * 2 ** attempt)
  answer = await fetch('${api(place)}/contacts', request).catch(() => undefined) // nobody answered
  if (answer && answer.status !== 429 && answer.status !== 503) break
}
console.log(answer?.status, await answer?.json())`,
      client: (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
// Repeats what is worth it by itself; with a key of yours also over several runs of your program.
const contact = await masthead.contacts.create(
  { accountId: '${place.accountId}', firstName: 'Ada', lastName: 'Lovelace' },
  { idempotencyKey: 'web-form-2026-11-15-0043' },
)
console.log(contact.id)`,
    },
  },

  updateMine: {
    code: {
      curl: (place) => `contact="${api(place)}/contacts/${place.contactId}"
etag=$(curl -sS -I ${header(place)} "$contact" |
  tr -d '\\r' | sed -n 's/^[Ee][Tt]ag: //p')

curl -i -X PATCH ${header(place)} \\
  -H "Content-Type: application/json" -H "If-Match: $etag" \\
  -d '{"accountId": "${place.accountId}", "title": "Editor"}' "$contact"`,
      fetch: (place) => `const url = '${api(place)}/contacts/${place.contactId}'
const headers = { authorization: 'Bearer ${place.token}', 'content-type': 'application/json' }
const read = await fetch(url, { headers })
const contact = await read.json()

const body = JSON.stringify({ accountId: contact.accountId, title: 'Editor' })
const written = await fetch(url, { method: 'PATCH', headers: { ...headers, 'if-match': read.headers.get('etag') }, body })
console.log(written.status) // 412 when somebody else was quicker`,
      client: (place) => `import { isProblem, Masthead } from '@masthead/client'

${newClient(place)}
const contact = await masthead.contacts.get('${place.contactId}')
try {
  const changed = { accountId: contact.accountId, title: 'Editor' }
  console.log(await masthead.contacts.update(contact.id, changed, { ifMatch: contact }))
} catch (error) {
  if (!isProblem(error, 'precondition_failed')) throw error
  console.log('Somebody else was quicker: read it again')
}`,
    },
  },

  unchanged: {
    code: {
      curl: (place) => `contacts="${api(place)}/contacts?pageSize=2"
etag=$(curl -sS -I ${header(place)} "$contacts" |
  tr -d '\\r' | sed -n 's/^[Ee][Tt]ag: //p')
curl -i ${header(place)} -H "If-None-Match: $etag" "$contacts"`,
      fetch: (place) => `const url = '${api(place)}/contacts?pageSize=2'
const headers = { authorization: 'Bearer ${place.token}' }
const first = await fetch(url, { headers })
const unchanged = { 'if-none-match': first.headers.get('etag'), 'cache-control': 'max-age=0' }
const again = await fetch(url, { headers: { ...headers, ...unchanged } })
console.log(again.status) // 304: what you have is current`,
      client: (place) => `import { Masthead } from '@masthead/client'

${newClient(place)}
for (const time of ['first', 'second']) {
  const { items } = await masthead.contacts.list({ pageSize: 2 }) // the second is a 304, answered from memory
  console.log(time, items.length)
}`,
    },
  },

  problem: reading(
    () => '/contacts?pagesize=2',
    (place) => `import { isProblem, Masthead } from '@masthead/client'

${newClient(place)}
try {
  await masthead.contacts.get('nobody')
} catch (error) {
  if (!isProblem(error, 'not_found')) throw error
  console.log(error.code, error.detail, error.requestId)
}`,
  ),
} as const satisfies Record<string, Example>

export type ExampleName = keyof typeof examples
