import { idempotencyKeys } from '@masthead/contract'
import type { TenantDatabase } from './database.ts'
import type { TenantQuery } from './tenant-query.ts'

/** A response as it was sent. */
export type PlainResponse = { status: number; headers: Record<string, string>; body: string }

/** A request that its sender may send again: by whom, under which key, and what it asks for. */
export type RetriableRequest = { principal: string; key: string; fingerprint: Buffer }

const lifetime = `interval '${idempotencyKeys.keptHours} hours'`
/** How many that nobody will ask for again go with each that is kept. */
const forgottenAtOnce = 10

/** Until the transaction ends, nobody else gets this turn: neither another process nor a retry that came too early. */
export const takeTurn = async (query: TenantQuery, { principal, key }: RetriableRequest): Promise<boolean> => {
  const [row] = await query<{ taken: boolean }>({
    text: `select pg_try_advisory_xact_lock(
      hashtextextended(json_build_array('answer', $1::uuid, $2::text, $3::text)::text, 0)) as taken`,
    values: [principal, key],
  })
  return row?.taken ?? false
}

/**
 * Locks what it finds. That is a write, so the commit waits for a standby: after a crash the response may be there
 * before any other server has it.
 */
export const findIdempotencyRecord = async (
  query: TenantQuery,
  { principal, key }: RetriableRequest,
): Promise<(PlainResponse & { fingerprint: Buffer }) | null> => {
  const [row] = await query<PlainResponse & { fingerprint: Buffer }>({
    text: `select request as fingerprint, status, headers, body from idempotency_records
      where tenant_id = $1 and principal = $2 and key = $3 and kept_at > now() - ${lifetime} for update`,
    values: [principal, key],
  })
  return row ?? null
}

/** Those that name one of the ids. It reads the responses of a day, which is quick enough for how rarely it happens. */
export const deleteIdempotencyRecordsAbout = async (query: TenantQuery, ids: readonly string[]): Promise<number> =>
  (
    await query({
      text: `delete from idempotency_records
        where tenant_id = $1 and (body like any ($2) or headers::text like any ($2)) returning 1`,
      values: [ids.map((id) => `%${id}%`)],
    })
  ).length

/** SQL: deletes the oldest that nobody will ask for again, so many at most. */
const deleteOld = (most: number, condition = ''): string =>
  `delete from idempotency_records where tenant_id = $1 and (principal, key) in (
          select principal, key from idempotency_records
          where tenant_id = $1 and kept_at <= now() - ${lifetime}${condition}
          order by kept_at limit ${most} for update skip locked)`

const forgottenByTheHour = 10_000

/** Of principals that keep no new ones. */
export const deleteOldIdempotencyRecords = async ({ transaction }: TenantDatabase): Promise<void> => {
  const text = `${deleteOld(forgottenByTheHour)} returning 1`
  const forgetSome = () => transaction((query) => query({ text }))
  while ((await forgetSome()).length === forgottenByTheHour);
}

/** Commits with what the request wrote, so that a crash leaves both or neither. */
export const storeIdempotencyRecord = async (
  query: TenantQuery,
  { principal, key, fingerprint }: RetriableRequest,
  { status, headers, body }: PlainResponse,
): Promise<void> => {
  await query({
    text: `
      with forgotten as (
        ${deleteOld(forgottenAtOnce, ' and (principal, key) <> ($2, $3)')}
      )
      insert into idempotency_records (tenant_id, principal, key, request, status, headers, body)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (tenant_id, principal, key) do update
      set request = excluded.request, status = excluded.status, headers = excluded.headers, body = excluded.body,
        kept_at = excluded.kept_at`,
    values: [principal, key, fingerprint, status, JSON.stringify(headers), body],
  })
}
