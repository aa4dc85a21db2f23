import { domainToASCII, domainToUnicode } from 'node:url'
import { type Author, operator } from '../../audit/author.ts'
import { auditUser } from '../../audit/queries.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { inNoAddress } from '../../email-address.ts'
import { isUuid, newId } from '../../records/identifiers.ts'
import { Refusal } from '../../refusal.ts'
import { publishChange, stampIdentity } from '../audit-change.ts'
import { revokeCredentials } from './credentials.ts'
import { hashPassword, noPassword, saltOf } from './passwords.ts'

export type User = {
  id: string
  email: string
  name: string
  passwordHash: string
  /** The only tenant of an account whose address is not proven; null when it is proven. */
  tenantId: string | null
}

const userColumns = 'id, email, name, password_hash as "passwordHash", tenant_id as "tenantId"'

/** Spellings with the same key are the same address. */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase()

const emailShape = new RegExp(`^[^${inNoAddress}]+@([^${inNoAddress}]+)$`, 'u')

/** The domain must be in its canonical form, so that one mailbox is not several addresses. */
export const isEmail = (text: string): boolean => {
  const [, domain] = emailShape.exec(text) ?? []
  return domain !== undefined && domainToUnicode(domainToASCII(domain)) === domain.normalize('NFC').toLowerCase()
}

export const findUser = async (query: Query, id: string): Promise<User | null> => {
  if (!isUuid(id)) return null
  return firstRow(query, { text: `select ${userColumns} from users where id = $1`, values: [id] })
}

/** `loginTs` is the second of a sign-in: by the database clock, and later than the last "sign out everywhere". */
export type Account = User & { loginTs: number }

const loginTs = `greatest(floor(extract(epoch from clock_timestamp())), floor(extract(epoch from sessions_since)) + 1)::float8`

/** All accounts of an address: the proven one first, if any, then at most one per tenant. */
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

/** Until the transaction ends nobody else creates, proves or deletes an account of this address. */
export const lockAddress = (query: Query, email: string) =>
  query({
    text: `select pg_advisory_xact_lock(hashtextextended('masthead address ' || $1, 0))`,
    values: [emailKey(email)],
  })

/**
 * Must not run in a transaction, because hashing is slow and queued. The accounts of one address share their salt, so that
 * a sign-in takes one derivation.
 */
export const hashPasswordOf = async (query: Query, email: string, password: string): Promise<string> => {
  const sibling = (await findAccounts(query, email)).find(({ passwordHash }) => passwordHash !== noPassword)
  return hashPassword(password, sibling ? saltOf(sibling.passwordHash) : await newSalt(query, email))
}

/** Two accounts that are created at once get the same salt, and nobody can predict it. */
const newSalt = async (query: Query, email: string): Promise<Buffer> => {
  const row = await firstRow<{ salt: Buffer }>(query, {
    text: `select substring(sha256(cursor_key || convert_to('salt of ' || $1, 'UTF8')) for 16) as salt from installation`,
    values: [emailKey(email)],
  })
  if (!row) throw new Error('there is no installation')
  return row.salt
}

/** `subject` is the name of the user at the outside issuer. */
type NewUser = Omit<User, 'id'> & { subject?: string | null }

export const createUser = async (query: Query, given: NewUser): Promise<User> => {
  const { email, name, passwordHash, subject = null, tenantId } = given
  if (!isEmail(email)) throw new Refusal(`"${email}" is not an e-mail address: write it like ada@acme.example`)
  if (name.trim() === '') throw new Refusal('a user needs a name: give the full name')
  if (name.length > 255 || /\p{Cc}/u.test(name))
    throw new Refusal('a name must have at most 255 characters, and no control characters')
  if (subject !== null) await requireFreeSubject(query, subject)
  const user = await firstRow<User>(query, {
    text: `insert into users (id, email, email_key, name, password_hash, subject, tenant_id)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${userColumns}`,
    values: [newId(), email, emailKey(email), name, passwordHash, subject, tenantId],
  })
  if (!user) throw new Refusal(`${email} has an account already: sign in with it, or set its password`)
  return user
}

/** Deletes an account without memberships, and its sessions. Its name and address stay for the audit log. */
export const deleteUser = async (query: Query, id: string): Promise<void> => {
  await query({ text: `delete from authorization_state where account_id = $1::text`, values: [id] })
  await query({
    text: `with removed as (delete from users where id = $1 returning id, email, name)
      insert into former_users (id, email, name) select id, email, name from removed`,
    values: [id],
  })
}

/**
 * Marks the address of this account as proven. The account takes over the memberships of the unproven accounts of the
 * address, whose credentials are revoked because anybody may have set them. Returns the tenants of those memberships.
 */
export const proveAddress = async (query: Query, owner: User): Promise<string[]> => {
  const others = (await findAccounts(query, owner.email)).filter(({ id }) => id !== owner.id)
  if (others.some(({ tenantId }) => tenantId === null))
    throw new Refusal(`${owner.email} has a proven account already: leave --proven out`)
  await query({ text: 'update users set tenant_id = null where id = $1', values: [owner.id] })
  const tenants: string[] = []
  for (const { id, tenantId } of others) {
    if (tenantId === null) continue
    await revokeCredentials(query, byMasthead, id)
    await query({
      text: `insert into memberships (tenant_id, user_id, role, legacy_user_id, created_at)
        select tenant_id, $3, role, legacy_user_id, created_at from memberships where tenant_id = $1 and user_id = $2
        on conflict do nothing`,
      values: [tenantId, id, owner.id],
    })
    await query({ text: 'delete from memberships where tenant_id = $1 and user_id = $2', values: [tenantId, id] })
    const after = { userId: owner.id }
    await publishChange(query, tenantId, byMasthead, { action: 'taken_over', resource: 'members', recordId: id, after })
    await deleteUser(query, id)
    tenants.push(tenantId)
  }
  return tenants
}

/** Other tenants must not learn who proved the address. */
const byMasthead: Author = { kind: 'masthead' }

/** Anybody may have set the password before an identity provider vouched for the address. */
export const removePassword = async (query: Query, author: Author, { id }: User): Promise<void> => {
  await query({ text: 'update users set password_hash = $2 where id = $1', values: [id, noPassword] })
  await revokeCredentials(query, author, id)
}

export const setPassword = async (
  query: Query,
  author: Author,
  { id }: User,
  passwordHash: string,
  keptTokens: string[] = [],
): Promise<void> => {
  await query({ text: 'update users set password_hash = $2 where id = $1', values: [id, passwordHash] })
  await revokeCredentials(query, author, id, keptTokens)
  await auditUser(query, id, author, { action: 'password_changed', resource: 'users' })
}

/** Only the operator may set the name of a user at the outside issuer. */
export const setSubject = async (query: Query, { id }: User, subject: string): Promise<void> => {
  await requireFreeSubject(query, subject, id)
  const changed = await firstRow<{ former: string | null }>(query, {
    text: `with former as (select id, subject from users where id = $1 for update)
      update users set subject = $2 from former where users.id = former.id returning former.subject as former`,
    values: [id, subject],
  })
  const values = { before: JSON.stringify({ subject: changed?.former }), after: JSON.stringify({ subject }) }
  await auditUser(query, id, operator, { action: 'subject_changed', resource: 'users', ...values })
  await stampIdentity(query)
}

const requireFreeSubject = async (query: Query, subject: string, userId: string | null = null): Promise<void> => {
  const taken = await firstRow<{ email: string }>(query, {
    text: 'select email from users where subject = $1 and id is distinct from $2',
    values: [subject, userId],
  })
  if (taken)
    throw new Refusal(
      `another account, of ${taken.email}, has the subject "${subject}": give each account one of its own`,
    )
}
