import { idempotencyKeys } from '@masthead/contract'
import type { Query } from './connection.ts'
import type { TenantDatabase } from './database.ts'

/** An answer as it was sent. */
export type SentAnswer = { status: number; headers: Record<string, string>; body: string }

/** A request that its sender may send again: by whom, under which key, and what it asks for. */
export type RetriableRequest = { principal: string; key: string; fingerprint: Buffer }

const lifetime = `interval '${idempotencyKeys.keptHours} hours'`
/** How many that nobody will ask for again go with each that is kept. */
const forgottenAtOnce = 10

/** Until the transaction ends, nobody else gets this turn: neither another process nor a retry that came too early. */
export const takeTurn = async (query: Query, { principal, key }: RetriableRequest): Promise<boolean> => {
  const [row] = await query<{ taken: boolean }>({
    text: `select pg_try_advisory_xact_lock(
      hashtextextended(json_build_array('answer', current_tenant(), $1::text, $2::text)::text, 0)) as taken`,
    values: [principal, key],
  })
  return row?.taken ?? false
}

/**
 * Locks what it finds. That is a write, so the commit waits for a standby: after a crash the answer may be there before
 * any other server has it.
 */
export const findAnswer = async (
  query: Query,
  { principal, key }: RetriableRequest,
): Promise<(SentAnswer & { fingerprint: Buffer }) | null> => {
  const [row] = await query<SentAnswer & { fingerprint: Buffer }>({
    text: `select request as fingerprint, status, headers, body from kept_answers
      where principal = $1 and key = $2 and kept_at > now() - ${lifetime} for update`,
    values: [principal, key],
  })
  return row ?? null
}

/** All that name a record. It reads the answers of a day, which is quick enough for how rarely it happens. */
export const forgetAnswersAbout = async (query: Query, id: string): Promise<number> =>
  (
    await query({
      text: `delete from kept_answers where strpos(body, $1) > 0 or strpos(headers::text, $1) > 0 returning 1`,
      values: [id],
    })
  ).length

const forgottenByTheHour = 10_000

/** Of principals that keep no new ones. */
export const forgetOldAnswers = async ({ transaction }: TenantDatabase): Promise<void> => {
  const forgetSome = () =>
    transaction((query) =>
      query({
        text: `delete from kept_answers where (principal, key) in (
          select principal, key from kept_answers where kept_at <= now() - ${lifetime}
          order by kept_at limit ${forgottenByTheHour} for update skip locked) returning 1`,
      }),
    )
  while ((await forgetSome()).length === forgottenByTheHour);
}

/** Commits with what the request wrote, so that a crash leaves both or neither. */
export const keepAnswer = async (
  query: Query,
  { principal, key, fingerprint }: RetriableRequest,
  { status, headers, body }: SentAnswer,
): Promise<void> => {
  await query({
    text: `
      with forgotten as (
        delete from kept_answers where (principal, key) in (
          select principal, key from kept_answers where kept_at <= now() - ${lifetime} and (principal, key) <> ($1, $2)
          order by kept_at limit ${forgottenAtOnce} for update skip locked)
      )
      insert into kept_answers (principal, key, request, status, headers, body) values ($1, $2, $3, $4, $5, $6)
      on conflict (tenant_id, principal, key) do update
      set request = excluded.request, status = excluded.status, headers = excluded.headers, body = excluded.body,
        kept_at = now()`,
    values: [principal, key, fingerprint, status, JSON.stringify(headers), body],
  })
}
