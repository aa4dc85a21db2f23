import { domainToASCII, domainToUnicode } from 'node:url'
import { type Author, operator } from '../audit/author.ts'
import { auditUser } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import { isUuid, newId } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { noteChange } from './changes.ts'
import { endCredentials } from './credentials.ts'
import { hashPassword, noPassword, saltOf } from './passwords.ts'

/** An account with which somebody signs in. */
export type User = {
  id: string
  email: string
  name: string
  passwordHash: string
  /** The only tenant of an account whose address nobody has proven; null once the address is proven. */
  tenantId: string | null
}

const userColumns = 'id, email, name, password_hash as "passwordHash", tenant_id as "tenantId"'

/** Two spellings with one key are one address. */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase()

const emailShape = /^[^\s@<>()[\]\\",;:\p{Cc}\p{Cf}]+@([^\s@<>()[\]\\",;:\p{Cc}\p{Cf}]+)$/u

/** With a domain as it is written everywhere, so that one mailbox is not several addresses. */
export const isEmail = (text: string): boolean => {
  const [, domain] = emailShape.exec(text) ?? []
  return domain !== undefined && domainToUnicode(domainToASCII(domain)) === domain.normalize('NFC').toLowerCase()
}

export const findUser = async (query: Query, id: string): Promise<User | null> => {
  if (!isUuid(id)) return null
  const [user] = await query<User>({ text: `select ${userColumns} from users where id = $1`, values: [id] })
  return user ?? null
}

export type Account = User & {
  /**
   * The second of a sign-in with what was read: by the clock that ends sessions, and after the second in which those of
   * before were ended.
   */
  loginTs: number
}

const loginTs = `greatest(floor(extract(epoch from clock_timestamp())), floor(extract(epoch from sessions_since)) + 1)::float8`

/** All accounts of an address: the proven one first, if there is one, then at most one for each tenant. */
export const findAccounts = async (query: Query, email: string): Promise<Account[]> =>
  email.includes('\0')
    ? []
    : query<Account>({
        text: `select ${userColumns}, ${loginTs} as "loginTs" from users where email_key = $1
          order by tenant_id is not null, created_at, id`,
        values: [emailKey(email)],
      })

export const findProvenUser = async (query: Query, email: string): Promise<User | null> =>
  (await findAccounts(query, email)).find(({ tenantId }) => tenantId === null) ?? null

/** Until the transaction ends nobody else makes, proves or ends an account of this address. */
export const holdAddress = (query: Query, email: string): Promise<unknown> =>
  query({
    text: `select pg_advisory_xact_lock(hashtextextended('masthead address ' || $1, 0))`,
    values: [emailKey(email)],
  })

/**
 * To be called before a transaction begins: it takes processor time, and waits for its turn. The accounts of one address
 * share their salt, so that a sign-in costs one derivation however many there are.
 */
export const hashPasswordOf = async (query: Query, email: string, password: string): Promise<string> => {
  const sibling = (await findAccounts(query, email)).find(({ passwordHash }) => passwordHash !== noPassword)
  return hashPassword(password, sibling ? saltOf(sibling.passwordHash) : await newSalt(query, email))
}

/** The same for two that are made at the same moment, and nobody knows it before the database is read. */
const newSalt = async (query: Query, email: string): Promise<Buffer> => {
  const [row] = await query<{ salt: Buffer }>({
    text: `select substring(sha256(cursor_key || convert_to('salt of ' || $1, 'UTF8')) for 16) as salt from installation`,
    values: [emailKey(email)],
  })
  if (!row) throw new Error('there is no installation')
  return row.salt
}

export type NewUser = {
  email: string
  name: string
  passwordHash: string
  /** Its name at the outside issuer. */
  subject?: string | null
  /** The tenant to which an unproven account belongs; null when the address is proven. */
  tenantId: string | null
}

export const createUser = async (query: Query, given: NewUser): Promise<User> => {
  const { email, name, passwordHash, subject = null, tenantId } = given
  if (!isEmail(email)) throw new Refusal(`"${email}" is not an e-mail address`)
  if (name.trim() === '') throw new Refusal('a user needs a name')
  if (name.length > 255 || /\p{Cc}/u.test(name))
    throw new Refusal('a name has at most 255 characters, and no control characters')
  if (subject !== null) await refuseTaken(query, subject)
  const [user] = await query<User>({
    text: `insert into users (id, email, email_key, name, password_hash, subject, tenant_id)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${userColumns}`,
    values: [newId(), email, emailKey(email), name, passwordHash, subject, tenantId],
  })
  if (!user) throw new Refusal(`${email} has an account already`)
  return user
}

/** Removes an account that has no membership any more, with its sessions. The audit log can still tell who it was. */
export const endUser = async (query: Query, { id }: { id: string }): Promise<void> => {
  await query({ text: `delete from authorization_state where account_id = $1::text`, values: [id] })
  await query({
    text: `with removed as (delete from users where id = $1 returning id, email, name)
      insert into former_users (id, email, name) select id, email, name from removed`,
    values: [id],
  })
}

/**
 * The address is proven, and this is the account of its owner. It takes over the memberships of the unproven accounts of
 * the address, whose credentials end: who set them may have been anybody. Answers the tenants that it took over.
 */
export const proveAddress = async (query: Query, owner: User): Promise<string[]> => {
  const others = (await findAccounts(query, owner.email)).filter(({ id }) => id !== owner.id)
  if (others.some(({ tenantId }) => tenantId === null)) throw new Refusal(`${owner.email} has a proven account already`)
  await query({ text: 'update users set tenant_id = null where id = $1', values: [owner.id] })
  const tenants: string[] = []
  for (const { id, tenantId } of others) {
    if (tenantId === null) continue
    await endCredentials(query, byMasthead, id)
    await query({
      text: `insert into memberships (tenant_id, user_id, role, legacy_user_id, created_at)
        select tenant_id, $3, role, legacy_user_id, created_at from memberships where tenant_id = $1 and user_id = $2
        on conflict do nothing`,
      values: [tenantId, id, owner.id],
    })
    await query({ text: 'delete from memberships where tenant_id = $1 and user_id = $2', values: [tenantId, id] })
    const after = JSON.stringify({ userId: owner.id })
    await noteChange(query, tenantId, byMasthead, { action: 'taken_over', resource: 'members', recordId: id, after })
    await endUser(query, { id })
    tenants.push(tenantId)
  }
  return tenants
}

/** Other tenants need not know from where the owner came. */
const byMasthead: Author = { kind: 'masthead' }

/** Whoever set a password before an identity provider vouched for the address may have been anybody. */
export const closePassword = async (query: Query, author: Author, { id }: User): Promise<void> => {
  await query({ text: 'update users set password_hash = $2 where id = $1', values: [id, noPassword] })
  await endCredentials(query, author, id)
}

/** Ends everything that the old password gave, but for the tokens that the user keeps. */
export const setPassword = async (
  query: Query,
  author: Author,
  { id }: User,
  passwordHash: string,
  kept: readonly string[] = [],
): Promise<void> => {
  await query({ text: 'update users set password_hash = $2 where id = $1', values: [id, passwordHash] })
  await endCredentials(query, author, id, kept)
  await auditUser(query, id, author, { action: 'password_changed', resource: 'users' })
}

/** The name of a user at the outside issuer, which the operator alone may say. */
export const setSubject = async (query: Query, { id }: User, subject: string): Promise<void> => {
  await refuseTaken(query, subject, id)
  const [changed] = await query<{ former: string | null }>({
    text: `with former as (select id, subject from users where id = $1 for update)
      update users set subject = $2 from former where users.id = former.id returning former.subject as former`,
    values: [id, subject],
  })
  const values = { before: JSON.stringify({ subject: changed?.former }), after: JSON.stringify({ subject }) }
  await auditUser(query, id, operator, { action: 'subject_changed', resource: 'users', ...values })
  await query({ text: 'select stamp_identity()' })
}

const refuseTaken = async (query: Query, subject: string, userId: string | null = null): Promise<void> => {
  const [taken] = await query<{ email: string }>({
    text: 'select email from users where subject = $1 and id is distinct from $2',
    values: [subject, userId],
  })
  if (taken) throw new Refusal(`another account, of ${taken.email}, has the subject "${subject}"`)
}
