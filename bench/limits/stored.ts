import { createServer } from 'node:http'
import pg from 'pg'
import { announced } from '../announced.ts'

/**
 * The limit of what comes from the database: bare `node:http` and `pg` that join stored bodies, with no token, no
 * validation, no scope, no row-level security, no cursor and no entity tag. `/<tenant>/contacts/<id>` is a contact,
 * `/<tenant>/contacts?from=<position>&page=<n>` a page of 50. The responses are those of Masthead, so the total is there
 * too: one row of the tallies. Sessions are set and connections shared as in Masthead.
 */
const connections = await Promise.all(
  Array.from({ length: 4 }, async () => {
    const client = new pg.Client({ pipeline: true })
    await client.connect()
    await client.query(
      'set plan_cache_mode = force_generic_plan; set jit = off; set max_parallel_workers_per_gather = 0',
    )
    return client
  }),
)

let turn = 0
const query = async (name: string, text: string, values: unknown[]): Promise<Record<string, string> | undefined> => {
  const client = connections[turn++ % connections.length]
  return (await client?.query({ name, text, values }))?.rows[0]
}

const one = 'select body from contacts where tenant_id = $1 and id = $2'
const page = `
  select string_agg(body, ',' order by position) as items, (
    select count from tallies
    where tenant_id = $1 and resource = 'contacts' and facet = '' and class = 0 and level = 62 and block = 0
  ) as total
  from (
    select body, position from contacts where tenant_id = $1 and class = 0 and position >= $2 order by position limit 50
  ) as rows`

const bodyAt = async (url: string): Promise<string | undefined> => {
  const tenant = url.slice(1, 37)
  const rest = url.slice('/00000000-0000-0000-0000-000000000000/contacts'.length)
  if (rest.startsWith('/')) return (await query('one', one, [tenant, rest.slice(1)]))?.body
  const [, from, number] = /^\?from=(\d+)&page=(\d+)$/.exec(rest) ?? []
  const found = await query('page', page, [tenant, from])
  return found && `{"items":[${found.items}],"page":${number},"pageSize":50,"total":${found.total}}`
}

announced(
  createServer(async (request, response) => {
    const bytes = Buffer.from((await bodyAt(request.url ?? '')) ?? '')
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length }
    response.writeHead(bytes.length > 0 ? 200 : 404, headers).end(bytes)
  }),
)
