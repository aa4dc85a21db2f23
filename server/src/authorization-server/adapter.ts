import { createHash } from 'node:crypto'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Author } from '../audit/author.ts'
import type { Query } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { type Application, findApplication } from '../identity/applications.ts'
import { withdrawConsents } from '../identity/consents.ts'
import { clientMetadata } from './client-metadata.ts'

type StateRow = { payload: string; consumed_at: Date | null; sessions_since: Date | null }

/** SQL: of a session, from when on those of its user count. */
const sessionsSince = '(select sessions_since from users where users.id = account_id::uuid) as sessions_since'

/** The state of the provider in PostgreSQL, shared by every process. Clients are our applications. */
export class StateAdapter implements Adapter {
  readonly #database: Database
  readonly #query: Query
  readonly #read: Query
  readonly #model: string
  readonly #baseUrl: string

  constructor(database: Database, model: string, baseUrl: string) {
    this.#database = database
    this.#query = database.query
    this.#read = database.read
    this.#model = model
    this.#baseUrl = baseUrl
  }

  /** Seconds for which a code is known after its time, so that its reuse is noticed; its payload says that it is expired. */
  get #remembered(): number {
    return this.#model === 'AuthorizationCode' ? 86_400 : 0
  }

  /** `jti` is the id once more: it is left out, and put back by who knows it. */
  async upsert(id: string, given: AdapterPayload, expiresIn = 3_600): Promise<void> {
    const payload = withoutSecrets(given)
    // Any request can begin a session, and no step of the flow needs it before somebody signs in.
    if (this.#model === 'Session' && payload.accountId === undefined) return
    await this.#query({
      text: `insert into authorization_state (model, id_hash, payload, grant_id, uid, account_id, expires_at)
        values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
        on conflict (model, id_hash) do update set payload = excluded.payload, grant_id = excluded.grant_id,
          uid = excluded.uid, account_id = excluded.account_id, expires_at = excluded.expires_at`,
      values: [
        this.#model,
        hash(id),
        JSON.stringify(payload),
        payload.grantId ?? null,
        payload.uid ?? null,
        this.#model === 'Session' ? (payload.accountId ?? null) : null,
        expiresIn + this.#remembered,
      ],
    })
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (this.#model === 'Client') return this.#findClient(id)
    const found = await this.#first({
      text: `select payload, consumed_at, ${sessionsSince} from authorization_state
        where model = $1 and id_hash = $2 and expires_at > now()`,
      values: [this.#model, hash(id)],
    })
    // Spent codes are asked for only by who presents them again, perhaps long after they were good.
    if (this.#model === 'AuthorizationCode' && found?.consumed && found.grantId)
      await endGrant(this.#database, { kind: 'masthead' }, found.grantId)
    return found && { ...found, jti: id }
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#first({
      text: `select payload, consumed_at, ${sessionsSince} from authorization_state
        where model = $1 and uid = $2 and expires_at > now()`,
      values: [this.#model, uid],
    })
  }

  /** The device flow is off. */
  async findByUserCode(): Promise<undefined> {}

  /** At most one of several processes consumes a code or refresh token; who comes late ends what it gave. */
  async consume(id: string): Promise<void> {
    const consumed = await this.#query({
      text: `update authorization_state set consumed_at = now()
        where model = $1 and id_hash = $2 and consumed_at is null returning model`,
      values: [this.#model, hash(id)],
    })
    if (consumed.length > 0) return
    const [spent] = await this.#query<{ grant_id: string }>({
      text: 'select grant_id from authorization_state where model = $1 and id_hash = $2',
      values: [this.#model, hash(id)],
    })
    if (spent) await endGrant(this.#database, { kind: 'masthead' }, spent.grant_id)
    const { errors } = await import('oidc-provider')
    throw new errors.InvalidGrant('already used')
  }

  async destroy(id: string): Promise<void> {
    const destroyed = await this.#query({
      text: 'delete from authorization_state where model = $1 and id_hash = $2 returning model',
      values: [this.#model, hash(id)],
    })
    // The provider puts another in the place of an interaction that it destroys: at most one, of requests sent all at once.
    if (this.#model === 'Interaction' && destroyed.length === 0) {
      const { errors } = await import('oidc-provider')
      throw new errors.SessionNotFound('the authorization request has been continued already')
    }
    // Access tokens are not stored: they end with the consent that stands behind them.
    if (this.#model === 'Grant')
      await this.#database.transaction((query) => withdrawConsents(query, { kind: 'masthead' }, [id]))
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#query({
      text: 'delete from authorization_state where model = $1 and grant_id = $2',
      values: [this.#model, grantId],
    })
  }

  async #first(statement: { text: string; values: unknown[] }): Promise<AdapterPayload | undefined> {
    const [row] = await this.#read<StateRow>(statement)
    if (!row) return undefined
    const consumed = row.consumed_at && { consumed: Math.floor(row.consumed_at.getTime() / 1_000) }
    const payload: AdapterPayload = JSON.parse(row.payload)
    return hasEnded(payload.loginTs, row.sessions_since) ? undefined : { ...payload, ...consumed }
  }

  async #findClient(id: string): Promise<AdapterPayload | undefined> {
    if (id.includes('\0') || id.length > 200) return undefined
    const application: Application | null = await findApplication(this.#read, id)
    return application && !application.disabledAt ? clientMetadata(application, this.#baseUrl) : undefined
  }
}

/** The application and the user that a code or refresh token was given for. */
export type Holder = { clientId: string; userId: string }

/** Null when nobody was given it, or its time is over. */
export const holderOf = async (
  query: Query,
  model: 'AuthorizationCode' | 'RefreshToken',
  secret: string,
): Promise<Holder | null> => {
  const [row] = await query<{ payload: string }>({
    text: 'select payload from authorization_state where model = $1 and id_hash = $2 and expires_at > now()',
    values: [model, hash(secret)],
  })
  const { clientId, accountId }: AdapterPayload = row ? JSON.parse(row.payload) : {}
  return clientId !== undefined && accountId !== undefined ? { clientId, userId: accountId } : null
}

/** Nothing that was given under it works any longer. */
export const endGrant = (database: Database, author: Author, grantId: string): Promise<void> =>
  database.transaction(async (query) => {
    await withdrawConsents(query, author, [grantId])
    await deleteGrant(query, grantId)
  })

/** The provider's side of it. */
export const deleteGrant = async (query: Query, grantId: string): Promise<void> => {
  await query({
    text: `delete from authorization_state where grant_id = $1 or model = 'Grant' and id_hash = $2`,
    values: [grantId, hash(grantId)],
  })
}

/** Nobody asks for it any more. Answers whether there may be more of it. */
export const deleteExpiredState = (query: Query): Promise<boolean> =>
  deleteState(query, `expires_at < now() - interval '1 minute'`)

/**
 * Who begins to sign in is unknown, and may come from any number of addresses. Beyond so many requests the oldest go, which
 * are the least likely to be continued.
 */
export const mostInteractions = 100_000
export const deleteSurplusInteractions = (query: Query): Promise<boolean> =>
  deleteState(
    query,
    `model = 'Interaction' and expires_at <= (
      select expires_at from authorization_state where model = 'Interaction'
      order by expires_at desc offset ${mostInteractions} limit 1)`,
  )

/** So many at a time that it ends within the limit of a statement, whatever has piled up. */
const deletedAtOnce = 20_000
const deleteState = async (query: Query, condition: string): Promise<boolean> => {
  const [deleted] = await query<{ count: number }>({
    text: `with deleted as (
        delete from authorization_state where ctid in (
          select ctid from authorization_state where ${condition} limit $1 for update skip locked)
        returning 1
      )
      select count(*)::integer as count from deleted`,
    values: [deletedAtOnce],
  })
  return deleted?.count === deletedAtOnce
}

/** By its public name: its id is a secret that nothing here keeps. */
export const endSession = async (query: Query, uid: string): Promise<void> => {
  await query({ text: `delete from authorization_state where model = 'Session' and uid = $1`, values: [uid] })
}

export const isSessionOpen = async (query: Query, uid: string): Promise<boolean> =>
  (
    await query({
      text: `select from authorization_state where model = 'Session' and uid = $1 and expires_at > now()`,
      values: [uid],
    })
  ).length > 0

/** Of a session that began at this second, where those of its user count only from some moment on. */
export const hasEnded = (loginTs: unknown, sessionsSince: Date | null): boolean =>
  typeof loginTs === 'number' && sessionsSince !== null && loginTs <= Math.floor(sessionsSince.getTime() / 1_000)

/** Neither its own id nor, in an interaction, that of the session. */
const withoutSecrets = ({ jti: _jti, ...payload }: AdapterPayload): AdapterPayload => {
  if (!payload.session) return payload
  const { cookie: _cookie, ...session } = payload.session as AdapterPayload['session'] & { cookie?: string } // set by the Interaction model
  return { ...payload, session } as AdapterPayload // the same but for the cookie
}

const hash = (id: string): Buffer => createHash('sha256').update(id).digest()
