import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm'

/** The tables as a mapper sees them. What no response shows is not read. */
export type Contact = {
  tenantId: string
  id: string
  position: string
  visibility: number
  accountId: string
  ownerId: string | null
  name: string | null
  firstName: string | null
  lastName: string | null
  phone: string | null
  phone2: string | null
  extension: string | null
  hideContact: boolean | null
  subsOnly: boolean | null
  doNotEmail: boolean | null
  email: string | null
  title: string | null
  notes: string | null
  deletedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

const text = (name: string): EntitySchemaColumnOptions => ({ name, type: 'text', nullable: true })
const flag = (name: string): EntitySchemaColumnOptions => ({ name, type: 'boolean', nullable: true })
const instant = (name: string): EntitySchemaColumnOptions => ({ name, type: 'timestamptz', precision: 3 })

export const Contacts = new EntitySchema<Contact>({
  name: 'Contact',
  tableName: 'contacts',
  columns: {
    id: { type: 'uuid', primary: true },
    tenantId: { name: 'tenant_id', type: 'uuid', select: false },
    position: { type: 'bigint', select: false, insert: false, update: false },
    visibility: { name: 'class', type: 'smallint', select: false, insert: false, update: false },
    accountId: { name: 'account_id', type: 'text' },
    ownerId: text('owner_id'),
    name: text('name'),
    firstName: text('first_name'),
    lastName: text('last_name'),
    phone: text('phone'),
    phone2: text('phone2'),
    extension: text('extension'),
    hideContact: flag('hide_contact'),
    subsOnly: flag('subs_only'),
    doNotEmail: flag('do_not_email'),
    email: text('email'),
    title: text('title'),
    notes: text('notes'),
    deletedAt: { ...instant('deleted_at'), nullable: true },
    createdAt: instant('created_at'),
    updatedAt: instant('updated_at'),
  },
})

export type Account = { tenantId: string; id: string; accountId: string }

export const Accounts = new EntitySchema<Account>({
  name: 'Account',
  tableName: 'accounts',
  columns: {
    id: { type: 'uuid', primary: true },
    tenantId: { name: 'tenant_id', type: 'uuid' },
    accountId: { name: 'account_id', type: 'text' },
  },
})

export type AccessToken = {
  id: string
  tenantId: string
  secretHash: Buffer
  scopes: string[]
  expiresAt: Date
  revokedAt: Date | null
}

export const AccessTokens = new EntitySchema<AccessToken>({
  name: 'AccessToken',
  tableName: 'access_tokens',
  columns: {
    id: { type: 'uuid', primary: true },
    tenantId: { name: 'tenant_id', type: 'uuid' },
    secretHash: { name: 'secret_hash', type: 'bytea' },
    scopes: { type: 'text', array: true },
    expiresAt: instant('expires_at'),
    revokedAt: { ...instant('revoked_at'), nullable: true },
  },
})
