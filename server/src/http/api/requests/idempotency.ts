import { hash } from 'node:crypto'
import { idempotencyKeys } from '@masthead/contract'
import type { TenantDatabase } from '../../../database/database.ts'
import {
  findIdempotencyRecord,
  type PlainResponse,
  type RetriableRequest,
  storeIdempotencyRecord,
  takeTurn,
} from '../../../database/idempotency-records.ts'
import type { TenantQuery } from '../../../database/tenant-query.ts'
import { doAlone } from '../../../database/write-queue.ts'
import { conflictOf, Problem } from '../../../problem.ts'
import { Refusal } from '../../../refusal.ts'

/** The `Idempotency-Key`; null when none was sent. */
export const readKey = (header: string | string[] | undefined): string | null => {
  if (header === undefined) return null
  const key = String(header)
  if (key.length >= 1 && key.length <= idempotencyKeys.longest) return key
  const detail = `\`Idempotency-Key\` must have 1 to ${idempotencyKeys.longest} characters.`
  throw new Problem('invalid_header', detail, { errors: [{ header: 'Idempotency-Key', code: 'length', detail }] })
}

export const fingerprint = (method: string, url: string, body: Buffer | undefined): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from(`${method} ${url}\n`), body ?? Buffer.alloc(0)]), 'buffer')

/**
 * Does the work once, and sends the same response to a caller who sends the same request again. The work runs inside one transaction, with
 * what is kept of its response. A refusal is a response too, and leaves nothing else behind.
 */
export const respondOnce = async (
  tenant: TenantDatabase,
  request: RetriableRequest,
  work: (tenant: TenantDatabase) => Promise<PlainResponse>,
  asResponse: (problem: Problem) => PlainResponse,
  showsSecret = false,
): Promise<PlainResponse> => {
  const waiting: ((after: TenantDatabase | null) => void)[] = []
  const tell = (isStored: boolean) => {
    for (const act of waiting.splice(0)) act(isStored ? tenant : null)
  }
  const once = async (query: TenantQuery): Promise<PlainResponse> => {
    // What a former attempt has begun was not stored.
    tell(false)
    if (!(await takeTurn(query, request))) {
      throw new Problem('request_in_progress', 'A request with this `Idempotency-Key` is still running.', {
        headers: { 'retry-after': '1' },
      })
    }
    const kept = await findIdempotencyRecord(query, request)
    if (kept) return replay(kept, request)
    const response = await attempt(
      query,
      () => work({ ...inside(tenant, query), whenStored: (act) => waiting.push(act) }),
      (problem) => {
        tell(false)
        return asResponse(problem)
      },
    )
    await storeIdempotencyRecord(
      query,
      request,
      showsSecret && response.status < 300 ? asResponse(shownAlready()) : response,
    )
    return response
  }
  try {
    const response = await tenant.transaction(once)
    tell(true)
    return response
  } finally {
    tell(false)
  }
}

const shownAlready = (): Problem =>
  new Problem(
    'secret_shown_once',
    'A request with this `Idempotency-Key` was answered with a secret, which is not kept.',
  )

const replay = (
  { fingerprint, headers, ...kept }: PlainResponse & { fingerprint: Buffer },
  request: RetriableRequest,
): PlainResponse => {
  if (fingerprint.equals(request.fingerprint)) {
    return { ...kept, headers: { ...headers, 'idempotency-replayed': 'true' } }
  }
  const detail = 'This `Idempotency-Key` was used for another request: another path or another body.'
  throw new Problem('idempotency_key_reused', detail, {
    errors: [{ header: 'Idempotency-Key', code: 'reused', detail }],
  })
}

const attempt = async (
  query: TenantQuery,
  work: () => Promise<PlainResponse>,
  asResponse: (problem: Problem) => PlainResponse,
): Promise<PlainResponse> => {
  await query.withoutTenant({ text: 'savepoint work' })
  try {
    return await work()
  } catch (thrown) {
    const error = thrown instanceof Refusal ? conflictOf(thrown) : thrown
    // What is not the caller's doing may go well the next time.
    if (!(error instanceof Problem) || error.status >= 500 || [401, 403, 429].includes(error.status)) throw error
    await query.withoutTenant({ text: 'rollback to savepoint work' })
    return asResponse(error)
  }
}

/** The tenant's database as seen from within a transaction: what would open one of its own takes part in this one. */
const inside = (tenant: TenantDatabase, query: TenantQuery): TenantDatabase => ({
  ...tenant,
  read: query,
  readSlowly: query,
  transaction: (work) => work(query),
  write: async (decide) => (await decide(query))(query),
  inBatches: (_list, item, work) => doAlone(item, work),
})
