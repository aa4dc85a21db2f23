import type { Database, TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import type { Attempt } from '../attempt.ts'
import { disableEndpoint, type EndpointKind } from '../endpoints/queries.ts'
import { pauseOfAway } from '../schedule.ts'

/** A delivery whose attempt has begun, and its target. */
export type Claimed = {
  endpointId: string
  kind: EndpointKind
  url: string
  sealedSecret: Buffer
  /** Null unless the secret was changed within the last day. */
  formerSealedSecret: Buffer | null
  sequence: number
  /** Which attempt this is, of all and since somebody last sent it again. */
  attempt: number
  tries: number
  id: string
  body: string
}

// Where tables are sharded, an update takes no `now()` within `case` or `coalesce`, no `random()`, and no time of a row plus an interval.

/** An endpoint counts as away after so many attempts in a row without a response. */
const silencesUntilAway = 3
/** A claim outlasts an attempt, so that no delivery has two attempts in flight. */
const claimSeconds = 20
/** No endpoint is left alone for longer, so a later time stems from a clock that was set back since. */
const longestRest = `interval '65 minutes'`
const isPast = (time: string): string => `(${time} is null or ${time} <= now() or ${time} > now() + ${longestRest})`
const mayBeTried = `disabled_at is null and ${isPast('resumes_at')} and ${isPast('rests_until')}`
/** How long deliveries to a legacy system are tried. */
const legacyLifetime = `interval '3 days'`
/** A webhook that takes nothing for so long is disabled. */
const longestFailing = `interval '5 days'`

/** The endpoints of the tenant that have something to be told now. */
export const findDueEndpoints = async (tenant: TenantDatabase): Promise<string[]> => {
  const due = await tenant.transaction((query) =>
    query<{ id: string }>({
      text: `select id from webhook_endpoints as target where tenant_id = $1 and ${mayBeTried} and exists (
          select from webhook_deliveries as due
          where due.tenant_id = $1 and due.endpoint_id = target.id and due.settled_at is null and due.failed_at is null
            and due.next_attempt_at <= now())`,
    }),
  )
  return due.map(({ id }) => id)
}

/**
 * Begins an attempt of the delivery that has been due for longest, the first of its record, if there is one. An endpoint that is away is
 * tried by one at a time.
 */
export const claimDelivery = (tenant: TenantDatabase, endpointId: string): Promise<Claimed | null> =>
  tenant.transaction(async (query) => {
    type Target = Pick<Claimed, 'kind' | 'url' | 'sealedSecret' | 'formerSealedSecret'>
    const [found] = await query<Target & { silences: number; inAnHour: string }>({
      text: `select kind, url, sealed_secret as "sealedSecret", silences, (now() + interval '1 hour')::text as "inAnHour",
          case when former_secret_until > now() then former_sealed_secret end as "formerSealedSecret"
        from webhook_endpoints where tenant_id = $1 and id = $2 and ${mayBeTried} for no key update`,
      values: [endpointId],
    })
    if (!found) return null
    const { silences, inAnHour, ...target } = found
    const delivery = await claimFirst(query, endpointId, inAnHour)
    if (!delivery) return null
    if (silences >= silencesUntilAway) {
      await query({
        text: `update webhook_endpoints set resumes_at = now() + interval '${claimSeconds} seconds' where tenant_id = $1 and id = $2`,
        values: [endpointId],
      })
    }
    return { endpointId, ...delivery, ...target }
  })

type ClaimedDelivery = Pick<Claimed, 'sequence' | 'attempt' | 'tries' | 'id' | 'body'>

/** The caller has locked the endpoint, so nobody else claims or settles one of its deliveries meanwhile. */
const claimFirst = async (
  query: TenantQuery,
  endpointId: string,
  inAnHour: string,
): Promise<ClaimedDelivery | null> => {
  for (;;) {
    const [delivery] = await query<ClaimedDelivery>({ text: claimStatement, values: [endpointId] })
    if (delivery) return delivery
    if ((await query({ text: deferStatement, values: [endpointId, inAnHour] })).length === 0) return null
  }
}

/** So many are looked at to find one that nothing holds back. */
const lookedThrough = 200

/** The deliveries that have been due for longest. */
const firstDue = `(
  select sequence, record_id, next_attempt_at from webhook_deliveries
  where tenant_id = $1 and endpoint_id = $2 and settled_at is null and failed_at is null and next_attempt_at <= now()
  order by next_attempt_at, sequence limit ${lookedThrough})`

const claimStatement = `
  update webhook_deliveries as delivery set attempts = delivery.attempts + 1, tried_at = now(),
    next_attempt_at = now() + interval '${claimSeconds} seconds', claimed_until = now() + interval '${claimSeconds} seconds'
  from webhook_events as event
  where delivery.tenant_id = $1 and delivery.endpoint_id = $2 and event.tenant_id = $1 and event.sequence = delivery.sequence
    and delivery.settled_at is null and delivery.sequence = (
      select due.sequence from ${firstDue} as due
      where not exists (
        select from webhook_deliveries as earlier
        where earlier.tenant_id = $1 and earlier.endpoint_id = $2 and earlier.record_id = due.record_id
          and earlier.settled_at is null and earlier.sequence < due.sequence)
      order by due.next_attempt_at, due.sequence limit 1)
  returning delivery.sequence, delivery.attempts as attempt, delivery.attempts - delivery.attempts_before as tries, event.id, event.body`

/**
 * What an earlier one of its record holds back is due when that one is, so that it does not stand in the way of others. It comes sooner when
 * the earlier one is settled, and an hour later where an operator has to retry that one.
 */
const deferStatement = `
  update webhook_deliveries as held
  set next_attempt_at = case when first.failed_at is null then first.next_attempt_at else $3::timestamptz end
  from ${firstDue} as due cross join lateral (
    select sequence, next_attempt_at, failed_at from webhook_deliveries as earlier
    where earlier.tenant_id = $1 and earlier.endpoint_id = $2 and earlier.record_id = due.record_id and earlier.settled_at is null
    order by earlier.sequence limit 1
  ) as first
  where held.tenant_id = $1 and held.endpoint_id = $2 and held.sequence = due.sequence and first.sequence < due.sequence
  returning 1`

/** The endpoint has it. */
export const settleDelivered = (tenant: TenantDatabase, claimed: Claimed, made: Attempt): Promise<void> =>
  tenant.transaction(async (query) => {
    const { endpointId } = claimed
    const [endpoint] = await query<{ silences: number; isFailing: boolean }>({
      text: `select silences, failing_since is not null as "isFailing" from webhook_endpoints
        where tenant_id = $1 and id = $2 for no key update`,
      values: [endpointId],
    })
    if (endpoint && (endpoint.silences > 0 || endpoint.isFailing)) {
      await query({
        text: `update webhook_endpoints set silences = 0, failing_since = null, resumes_at = null where tenant_id = $1 and id = $2`,
        values: [endpointId],
      })
      // What found it away need not wait out its own pause.
      if (endpoint.silences >= silencesUntilAway) await query({ text: hastenStatement, values: [endpointId] })
    }
    await query({
      text: `update webhook_deliveries
        set ${notedOfAttempt}, settled_at = now(), failed_at = null
        where ${isAttempt}`,
      values: attemptValues(claimed, made),
    })
    await query({ text: releaseStatement, values: [endpointId, claimed.sequence] })
  })

/** Lets the next of the record go, where this one held it back. One that has failed before waits for its own time. */
const releaseStatement = `
  update webhook_deliveries as held set next_attempt_at = now()
  where held.tenant_id = $1 and held.endpoint_id = $2 and held.next_attempt_at > now() and held.attempts = held.attempts_before
    and (held.claimed_until is null or held.claimed_until <= now()) and held.sequence = (
      select next.sequence from webhook_deliveries as settled join webhook_deliveries as next
        on next.tenant_id = $1 and next.endpoint_id = $2 and next.record_id = settled.record_id and next.settled_at is null
      where settled.tenant_id = $1 and settled.endpoint_id = $2 and settled.sequence = $3 and settled.settled_at is not null
      order by next.sequence limit 1)`

const isAttempt = 'tenant_id = $1 and endpoint_id = $2 and sequence = $3 and attempts = $4'
const notedOfAttempt = 'claimed_until = null, status = $5, error = $6, response = $7, duration_ms = $8'
const attemptValues = (
  { endpointId, sequence, attempt }: Claimed,
  { status, error, response, milliseconds }: Attempt,
): unknown[] => [endpointId, sequence, attempt, status, error, response, Math.round(milliseconds)]

/** The first that waits of each record becomes due, save what is in flight. */
export const hastenStatement = `
  update webhook_deliveries as first set next_attempt_at = now()
  where tenant_id = $1 and endpoint_id = $2 and settled_at is null and failed_at is null and next_attempt_at > now()
    and (claimed_until is null or claimed_until <= now()) and not exists (
      select from webhook_deliveries as earlier
      where earlier.tenant_id = $1 and earlier.endpoint_id = $2 and earlier.record_id = first.record_id
        and earlier.settled_at is null and earlier.sequence < first.sequence)`

type Pauses = {
  /** Until the next attempt; null gives the delivery up, and lets later ones of its record go on. */
  delivery: number | null
  /** For which the endpoint is left alone, because it asked for it. */
  endpoint: number
}

/** Returns why the endpoint is disabled now, if it is. */
export const settleFailed = (
  tenant: TenantDatabase,
  claimed: Claimed,
  made: Attempt,
  pauses: Pauses,
): Promise<'gone' | 'failing' | null> =>
  tenant.transaction(async (query) => {
    const { endpointId, kind } = claimed
    const endpoint = await noteFailure(query, claimed, made, pauses.endpoint)
    const values = attemptValues(claimed, made)
    if (pauses.delivery === null) {
      await query({
        text: `update webhook_deliveries set ${notedOfAttempt}, failed_at = now(), settled_at = now() where ${isAttempt}`,
        values,
      })
      await query({ text: releaseStatement, values: [endpointId, claimed.sequence] })
    } else {
      await query({
        text: `update webhook_deliveries set ${notedOfAttempt}, next_attempt_at = now() + $9::float * interval '1 millisecond'
          where ${isAttempt}`,
        values: [...values, pauses.delivery],
      })
    }
    if (kind === 'legacy') {
      await query({
        text: `update webhook_deliveries set failed_at = now() where ${isAttempt} and waiting_since <= now() - ${legacyLifetime}`,
        values: values.slice(0, 3),
      })
      // Most deliveries to a system that is away are never tried, and expire all the same.
      if (endpoint?.isAway) await query({ text: giveUpUntriedStatement, values: [endpointId, made.error] })
      return null
    }
    // What a former address answered says nothing about the new one.
    if (!endpoint) return null
    const because = made.status === 410 ? 'gone' : 'failing'
    if (because === 'failing' && !endpoint.isFailing) return null
    await disableEndpoint(query, { kind: 'masthead' }, endpointId, because)
    return because
  })

/** Null when the endpoint has got another address meanwhile. */
const noteFailure = async (
  query: TenantQuery,
  { endpointId, url }: Claimed,
  { isSilent }: Attempt,
  rest: number,
): Promise<{ isAway: boolean; isFailing: boolean } | null> => {
  const [found] = await query<{ silences: number; url: string; isFailing: boolean | null }>({
    text: `select silences, url, failing_since <= now() - ${longestFailing} as "isFailing"
      from webhook_endpoints where tenant_id = $1 and id = $2 for no key update`,
    values: [endpointId],
  })
  if (found?.url !== url) return null
  const silences = found.silences + (isSilent ? 1 : 0)
  const isAway = isSilent && silences >= silencesUntilAway
  await query({
    // `least` and `greatest` leave out what is null.
    text: `update webhook_endpoints set failing_since = least(failing_since, now()), silences = $3,
        rests_until = greatest(rests_until, now() + $4::float * interval '1 millisecond'),
        resumes_at = now() + $5::float * interval '1 millisecond'
      where tenant_id = $1 and id = $2`,
    values: [endpointId, silences, rest, isAway ? pauseOfAway(silences - silencesUntilAway) : null],
  })
  return { isAway, isFailing: found.isFailing === true }
}

const giveUpUntriedStatement = `
  update webhook_deliveries set failed_at = now(), error = $3, tried_at = now()
  where tenant_id = $1 and endpoint_id = $2 and sequence in (
    select sequence from webhook_deliveries
    where tenant_id = $1 and endpoint_id = $2 and settled_at is null and failed_at is null
      and waiting_since <= now() - ${legacyLifetime} and (claimed_until is null or claimed_until <= now())
    limit 1000)`

/** We aborted the attempt, so it does not count, and another worker can begin at once. */
export const putBack = (tenant: TenantDatabase, { endpointId, sequence, attempt }: Claimed): Promise<void> =>
  tenant.transaction(async (query) => {
    await query({
      text: `update webhook_deliveries set claimed_until = null, next_attempt_at = now(), attempts_before = attempts_before + 1
        where ${isAttempt}`,
      values: [endpointId, sequence, attempt],
    })
    await query({ text: wakeLater })
  })

export const wakeLater = `select wake_webhook_worker($1, 'later', now())`

/** Wakes a worker when the next delivery to the endpoint is due, if any waits that nothing holds back. */
export const wakeWhenDue = (tenant: TenantDatabase, endpointId: string): Promise<unknown> =>
  tenant.transaction((query) => query({ text: 'select wake_webhook_worker_when_due($1, $2)', values: [endpointId] }))

export const wakeWhereDue = (database: Database): Promise<unknown> =>
  database.transaction((query) => query({ text: 'select wake_webhook_worker_where_due()' }))

const wakesAtOnce = 500

/**
 * Which tenants to look at now. A wake-up that a write in flight has locked stays, because its deliveries cannot be seen yet; the others go,
 * and the caller sees all that they stood for.
 */
export const takeWakes = async (database: Database): Promise<string[]> => {
  const due = await database.transaction((query) =>
    query<{ tenant: string }>({
      text: `
        with due as materialized (
          select tenant, name from webhook_wakes where at <= now() order by at limit ${wakesAtOnce}
        ), free as materialized (
          select wake.tenant, wake.name from webhook_wakes as wake join due on due.tenant = wake.tenant and due.name = wake.name
          where wake.at <= now() for update of wake skip locked
        ), taken as (
          delete from webhook_wakes as wake using free where wake.tenant = free.tenant and wake.name = free.name
        )
        select distinct tenant from due`,
    }),
  )
  return due.map(({ tenant }) => tenant)
}

/** Of each endpoint, at most so many are counted. */
const mostCounted = 10_000

type Queues = {
  kind: EndpointKind
  waiting: number
  failed: number
  disabled: number
  oldestWaiting: Date | null
}

/** What waits and has failed in all tenants together, by the kind of the endpoints. */
export const countAllDeliveries = (database: Database): Promise<Queues[]> =>
  // With many tenants it takes a while, so it uses a connection of its own.
  database.transaction((query) =>
    query<Queues>({
      text: `select kind, coalesce(sum(waiting) filter (where not is_disabled), 0)::bigint as waiting,
          coalesce(sum(failed), 0)::bigint as failed, count(*) filter (where is_disabled) as disabled,
          min(oldest) filter (where not is_disabled) as "oldestWaiting"
        from (values ('webhook'), ('legacy')) as kinds (kind) left join webhook_queues($1) using (kind) group by kind`,
      values: [mostCounted],
    }),
  )
