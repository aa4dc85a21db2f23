import { createHash } from 'node:crypto'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Author } from '../audit/author.ts'
import { firstRow } from '../database/connections/first-row.ts'
import type { Query } from '../database/connections/statement.ts'
import type { Database } from '../database/database.ts'
import { deleteBatch } from '../identity/batch-deletion.ts'
import { findApplication } from '../identity/people/applications.ts'
import { withdrawConsents } from '../identity/people/consents.ts'
import { clientMetadata } from './client-metadata.ts'

const hash = (id: string): Buffer => createHash('sha256').update(id).digest()

const masthead: Author = { kind: 'masthead' }

/** The state of the provider in PostgreSQL, shared by every process. Clients are our applications. */
export const stateAdapter = (database: Database, model: string, baseUrl: string): Adapter => {
  const { query, read, transaction } = database
  // A code stays stored after its time so that its reuse is noticed; its payload says that it has expired.
  const extraSeconds = model === 'AuthorizationCode' ? 86_400 : 0

  /** `sessionsSince` is, for a session, the date from which sessions of its user count. */
  const findState = async (condition: string, value: unknown): Promise<AdapterPayload | undefined> => {
    const row = await firstRow<{ payload: string; consumedAt: Date | null; sessionsSince: Date | null }>(read, {
      text: `select payload, consumed_at as "consumedAt",
          (select sessions_since from users where users.id = account_id::uuid) as "sessionsSince"
        from authorization_state where model = $1 and ${condition} and expires_at > now()`,
      values: [model, value],
    })
    if (!row) return undefined
    const consumed = row.consumedAt && { consumed: Math.floor(row.consumedAt.getTime() / 1_000) }
    const payload: AdapterPayload = JSON.parse(row.payload)
    return hasEnded(payload.loginTs, row.sessionsSince) ? undefined : { ...payload, ...consumed }
  }

  const findClient = async (id: string): Promise<AdapterPayload | undefined> => {
    if (id.includes('\0') || id.length > 200) return undefined
    const application = await findApplication(read, id)
    return application && !application.disabledAt ? clientMetadata(application, baseUrl) : undefined
  }

  return {
    upsert: async (id, given, expiresIn = 3_600) => {
      const payload = withoutSecrets(given)
      // Any request can begin a session, and no step of the flow needs it before the user signs in.
      if (model === 'Session' && payload.accountId === undefined) return
      const { grantId = null, uid = null } = payload
      const accountId = model === 'Session' ? payload.accountId : null
      await query({
        text: `insert into authorization_state (model, id_hash, payload, grant_id, uid, account_id, expires_at)
        values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
        on conflict (model, id_hash) do update set payload = excluded.payload, grant_id = excluded.grant_id,
          uid = excluded.uid, account_id = excluded.account_id, expires_at = excluded.expires_at`,
        values: [model, hash(id), JSON.stringify(payload), grantId, uid, accountId, expiresIn + extraSeconds],
      })
    },

    find: async (id) => {
      if (model === 'Client') return findClient(id)
      const found = await findState('id_hash = $2', hash(id))
      // A spent code was presented again, perhaps long after its time.
      if (model === 'AuthorizationCode' && found?.consumed && found.grantId)
        await revokeGrant(database, masthead, found.grantId)
      return found && { ...found, jti: id }
    },

    findByUid: (uid) => findState('uid = $2', uid),

    /** The device flow is off. */
    findByUserCode: async () => {},

    /** One process at most consumes a code or refresh token; a second one revokes the grant. */
    consume: async (id) => {
      const values = [model, hash(id)]
      const consumed = await firstRow(query, {
        text: `update authorization_state set consumed_at = now()
        where model = $1 and id_hash = $2 and consumed_at is null returning model`,
        values,
      })
      if (consumed) return
      const spent = await firstRow<{ grant_id: string }>(query, {
        text: 'select grant_id from authorization_state where model = $1 and id_hash = $2',
        values,
      })
      if (spent) await revokeGrant(database, masthead, spent.grant_id)
      const { errors } = await import('oidc-provider')
      throw new errors.InvalidGrant('already used')
    },

    destroy: async (id) => {
      const destroyed = await firstRow(query, {
        text: 'delete from authorization_state where model = $1 and id_hash = $2 returning model',
        values: [model, hash(id)],
      })
      // The provider replaces an interaction that it destroys. Of concurrent requests one at most may do so.
      if (model === 'Interaction' && !destroyed) {
        const { errors } = await import('oidc-provider')
        throw new errors.SessionNotFound('the authorization request has been continued already')
      }
      // Access tokens are not stored: they end with their consent.
      if (model === 'Grant') await transaction((inside) => withdrawConsents(inside, masthead, [id]))
    },

    revokeByGrantId: async (grantId) => {
      await query({
        text: 'delete from authorization_state where model = $1 and grant_id = $2',
        values: [model, grantId],
      })
    },
  }
}

/** True when the user has signed out everywhere since the second `loginTs`. */
export const hasEnded = (loginTs: unknown, sessionsSince: Date | null): boolean =>
  typeof loginTs === 'number' && sessionsSince !== null && loginTs <= Math.floor(sessionsSince.getTime() / 1_000)

/** Removes the state's own id, which `find` puts back, and from an interaction the id of the session. */
const withoutSecrets = ({ jti: _jti, ...payload }: AdapterPayload): AdapterPayload => {
  if (!payload.session) return payload
  const { cookie: _cookie, ...session } = payload.session as AdapterPayload['session'] & { cookie?: string } // set by the Interaction model
  return { ...payload, session } as AdapterPayload // the same but for the cookie
}

/** The application and the user to whom a code or refresh token was issued; null when it is unknown or has expired. */
export const findGrantee = async (query: Query, model: 'AuthorizationCode' | 'RefreshToken', secret: string) => {
  const row = await firstRow<{ payload: string }>(query, {
    text: 'select payload from authorization_state where model = $1 and id_hash = $2 and expires_at > now()',
    values: [model, hash(secret)],
  })
  const { clientId, accountId }: AdapterPayload = row ? JSON.parse(row.payload) : {}
  return clientId !== undefined && accountId !== undefined ? { clientId, userId: accountId } : null
}

export const revokeGrant = (database: Database, author: Author, grantId: string): Promise<void> =>
  database.transaction(async (query) => {
    await withdrawConsents(query, author, [grantId])
    await deleteGrant(query, grantId)
  })

/** Deletes the provider's state of a grant whose consent was withdrawn. */
export const deleteGrant = (query: Query, grantId: string) =>
  query({
    text: `delete from authorization_state where grant_id = $1 or model = 'Grant' and id_hash = $2`,
    values: [grantId, hash(grantId)],
  })

export const deleteExpiredState = (query: Query): Promise<boolean> =>
  deleteBatch(query, 'authorization_state', `expires_at < now() - interval '1 minute'`)

/** Anybody can begin to sign in, from any number of addresses. Beyond this number the oldest requests are deleted. */
export const mostInteractions = 100_000
export const deleteSurplusInteractions = (query: Query): Promise<boolean> =>
  deleteBatch(
    query,
    'authorization_state',
    `model = 'Interaction' and expires_at <= (
      select expires_at from authorization_state where model = 'Interaction'
      order by expires_at desc offset ${mostInteractions} limit 1)`,
  )

/** Takes the public `uid` of a session: its id is a secret, which is not stored. */
export const endSession = (query: Query, uid: string) =>
  query({ text: `delete from authorization_state where model = 'Session' and uid = $1`, values: [uid] })

export const isSessionOpen = async (query: Query, uid: string): Promise<boolean> =>
  (await firstRow(query, {
    text: `select from authorization_state where model = 'Session' and uid = $1 and expires_at > now()`,
    values: [uid],
  })) !== null
