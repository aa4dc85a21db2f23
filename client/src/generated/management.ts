/** GENERATED from the contract by `npm run generate`. */

import type { Caller, CallOptions, KeyedOptions } from '../caller.ts'
import type { ListedName, Scope } from './contract.ts'

export const basePath = '/management-api/v1'
export const scopePrefix = 'management-api/'

/** What the console may do beside the customer API. */
export type ManagementScope =
  /** See who you are, and sign out */
  | 'self:manage'
  /** Make and revoke your personal access tokens */
  | 'tokens:manage'
  /** See and withdraw what you allowed applications */
  | 'consents:manage'
  /** See how the business stands */
  | 'overview:read'
  /** See who changed the records that you may see */
  | 'history:read'
  /** Change what holds for all members */
  | 'tenant:manage'
  /** Invite, change and remove members */
  | 'members:manage'
  /** Make, rotate and revoke service tokens */
  | 'service-tokens:manage'
  /** Register and disable applications */
  | 'applications:manage'
  /** See and retry deliveries to the legacy system */
  | 'legacy:manage'
  /** Make webhook endpoints, and see and resend their deliveries */
  | 'webhooks:manage'
  /** Import records and take imports back */
  | 'imports:manage'
  /** See what was done, and by whom */
  | 'audit:read'

/** What webhook endpoints can be told of. */
export type WebhookEventType =
  /** A contact was created. */
  | 'contact.created'
  /** A contact was changed. */
  | 'contact.updated'
  /** A contact was deleted; it can be restored. */
  | 'contact.deleted'
  /** A deleted contact was restored. */
  | 'contact.restored'
  /** An account was created. */
  | 'account.created'
  /** An account was corrected. */
  | 'account.updated'
  /** A task was created. */
  | 'task.created'
  /** A task was changed, marked as done or opened again. */
  | 'task.updated'
  /** An import has written all of its records. */
  | 'import.completed'
  /** An import was taken back. */
  | 'import.undone'

export interface Me {
  /** Identifier of the user. A UUID. */
  userId: string
  /** E-mail address, with which the user signs in. */
  email: string
  /** Full name. */
  name: string
  /** User of the legacy system that the user is in this tenant, as tasks name them; null when nobody has said so. */
  legacyUserId: string | null
  /** The tenant that this token is for. */
  tenant: {
    /** Identifier of the tenant. A UUID. */
    id: string
    /** Short name of the tenant, as commands take it. */
    slug: string
    /** Name of the tenant. */
    name: string
    /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
    role: 'admin' | 'editor' | 'viewer'
  }
  /** All tenants that the user is a member of, by name. */
  tenants: {
    /** Identifier of the tenant. A UUID. */
    id: string
    /** Short name of the tenant, as commands take it. */
    slug: string
    /** Name of the tenant. */
    name: string
    /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
    role: 'admin' | 'editor' | 'viewer'
  }[]
  /** Whom to ask for what takes an admin of the tenant, by e-mail address; ten at most. */
  admins: {
    /** Full name. */
    name: string
    /** E-mail address. */
    email: string
  }[]
}

export interface SignOut {
  /** Not only this browser, but all of them. */
  everywhere: boolean
}

export interface SignedOut {
  /** How many sessions were ended. */
  sessions: number
}

export interface Credentials {
  /** Personal access tokens that work, in all tenants of the user. */
  tokens: {
    /** Identifier of the token. A UUID. */
    id: string
    /** What the token is for. */
    name: string
    /** Name of the tenant that it opens. */
    tenant: string
    /** When it was made. RFC 3339, UTC. */
    createdAt: string
    /** Until when it works. RFC 3339, UTC. */
    expiresAt: string
    /** When it was last used, to the minute; null for never. RFC 3339, UTC. */
    lastUsedAt: string | null
  }[]
  /** Applications that may act for the user, in all tenants of the user. */
  consents: {
    /** Identifier of the consent. */
    id: string
    /** Name of the application. */
    application: string
    /** Name of the tenant in which it may act. */
    tenant: string
    /** When the user allowed it. RFC 3339, UTC. */
    createdAt: string
  }[]
}

export interface PasswordInput {
  /** The password until now. At most 1024 characters. */
  currentPassword: string
  /** The new password. At most 1024 characters. */
  newPassword: string
  /** Personal access tokens that go on working. All others end. */
  keepTokens?: string[] | undefined
}

export interface TenantSettings {
  /** Short name of the tenant, as commands take it. */
  slug: string
  /** Name of the tenant. */
  name: string
  /** Where "today" is, for what is overdue: a name of the IANA database, such as Europe/Berlin. */
  timeZone: string
}

export interface TenantSettingsInput {
  /** Where "today" is, for what is overdue: a name of the IANA database, such as Europe/Berlin. At most 100 characters. */
  timeZone: string
}

export interface Overview {
  /** Subscriptions that are not deleted, by status, the most frequent first. */
  subscriptionsByStatus: {
    /** The status, in lower case. */
    status: string
    /** Subscriptions that have it. */
    count: number
  }[]
  /** Subscriptions that are not deleted, by publication, the most frequent first; 20 at most. */
  subscriptionsByPublication: {
    /** Identifier of the publication. A UUID. */
    publicationId: string
    /** Its code. */
    code: string
    /** Its name. */
    name: string | null
    /** All of its subscriptions. */
    count: number
    /** Those with the status `active`. */
    active: number
  }[]
  /** Renewals that come due, by month: the current one and the eleven after it. */
  renewalsDue: {
    /** The month, as `2026-11`. */
    month: string
    /** Active subscriptions that are due for renewal. */
    count: number
  }[]
  /** What open invoices ask for, by age; always all five. */
  receivables: {
    /** Days since the invoice was due. */
    age: 'not_due' | '1-30' | '31-60' | '61-90' | 'over_90'
    /** Open invoices of this age. */
    count: number
    /** What is due in sum. A decimal with two digits. */
    totalDue: string
  }[]
}

export interface Token {
  /** Identifier of the token. A UUID. */
  id: string
  /** What the token is for. */
  name: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** When the token was made. RFC 3339, UTC. */
  createdAt: string
  /** When the token ends by itself. RFC 3339, UTC. */
  expiresAt: string
  /** When the token was revoked; null while it is not. RFC 3339, UTC. */
  revokedAt: string | null
  /** When the token was last used, to the minute; null before its first use. RFC 3339, UTC. */
  lastUsedAt: string | null
}

export interface TokenList {
  /** All of them. */
  items: Token[]
}

export interface TokenInput {
  /** What the token is for. At most 255 characters. */
  name: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** How many days the token lives; 90 when absent. At most 366. */
  expiresInDays?: number | undefined
}

export interface ShownToken {
  /** Identifier of the token. A UUID. */
  id: string
  /** What the token is for. */
  name: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** When the token was made. RFC 3339, UTC. */
  createdAt: string
  /** When the token ends by itself. RFC 3339, UTC. */
  expiresAt: string
  /** When the token was revoked; null while it is not. RFC 3339, UTC. */
  revokedAt: string | null
  /** When the token was last used, to the minute; null before its first use. RFC 3339, UTC. */
  lastUsedAt: string | null
  /** The token itself. It is shown only now. */
  token: string
}

export interface Consent {
  /** Identifier of the consent. */
  id: string
  /** Name of the application. */
  application: string
  /** Its `client_id`. */
  clientId: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** When you consented. RFC 3339, UTC. */
  createdAt: string
}

export interface ConsentList {
  /** All of them. */
  items: Consent[]
}

export interface Member {
  /** Identifier of the user. A UUID. */
  userId: string
  /** E-mail address, with which the user signs in. */
  email: string
  /** Full name. */
  name: string
  /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
  role: 'admin' | 'editor' | 'viewer'
  /** Identifier of the user in the legacy system. */
  legacyUserId: string | null
  /** When the user became a member. RFC 3339, UTC. */
  createdAt: string
}

export interface MemberList {
  /** All of them. */
  items: Member[]
}

export interface MemberInput {
  /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
  role?: 'admin' | 'editor' | 'viewer' | undefined
  /** Identifier of the user in the legacy system; null for none. At most 255 characters. */
  legacyUserId?: string | null | undefined
}

export interface Invitation {
  /** Identifier of the invitation. A UUID. */
  id: string
  /** Who is invited. */
  email: string
  /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
  role: 'admin' | 'editor' | 'viewer'
  /** E-mail address of who invited; null when that user is gone. */
  invitedBy: string | null
  /** When the invitation was made. RFC 3339, UTC. */
  createdAt: string
  /** Until when it can be accepted. RFC 3339, UTC. */
  expiresAt: string
}

export interface InvitationList {
  /** All of them. */
  items: Invitation[]
}

export interface InvitationInput {
  /** Who is invited. At most 254 characters. */
  email: string
  /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
  role: 'admin' | 'editor' | 'viewer'
}

export interface ShownInvitation {
  /** Identifier of the invitation. A UUID. */
  id: string
  /** Who is invited. */
  email: string
  /** `admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only. */
  role: 'admin' | 'editor' | 'viewer'
  /** E-mail address of who invited; null when that user is gone. */
  invitedBy: string | null
  /** When the invitation was made. RFC 3339, UTC. */
  createdAt: string
  /** Until when it can be accepted. RFC 3339, UTC. */
  expiresAt: string
  /** The address at which it is accepted, once. It is shown only now. Null when it was mailed to who is invited. */
  url: string | null
}

export interface ServiceToken {
  /** Identifier of the token. A UUID. */
  id: string
  /** What the token is for. */
  name: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** When the token was made. RFC 3339, UTC. */
  createdAt: string
  /** When the token ends by itself. RFC 3339, UTC. */
  expiresAt: string
  /** When the token was revoked; null while it is not. RFC 3339, UTC. */
  revokedAt: string | null
  /** When the token was last used, to the minute; null before its first use. RFC 3339, UTC. */
  lastUsedAt: string | null
  /** The integration that holds the token. */
  service: string
  /** The user of the legacy system who gets tasks that name nobody. */
  defaultAssignee: string | null
}

export interface ServiceTokenList {
  /** All of them. */
  items: ServiceToken[]
}

export interface ServiceTokenInput {
  /** The integration that will hold the token. At most 255 characters. */
  service: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** How many days the token lives; 365 when absent. At most 3660. */
  expiresInDays?: number | undefined
  /** The user of the legacy system who gets tasks that name nobody. At most 255 characters. */
  defaultAssignee?: string | null | undefined
}

export interface ShownServiceToken {
  /** Identifier of the token. A UUID. */
  id: string
  /** What the token is for. */
  name: string
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** When the token was made. RFC 3339, UTC. */
  createdAt: string
  /** When the token ends by itself. RFC 3339, UTC. */
  expiresAt: string
  /** When the token was revoked; null while it is not. RFC 3339, UTC. */
  revokedAt: string | null
  /** When the token was last used, to the minute; null before its first use. RFC 3339, UTC. */
  lastUsedAt: string | null
  /** The integration that holds the token. */
  service: string
  /** The user of the legacy system who gets tasks that name nobody. */
  defaultAssignee: string | null
  /** The token itself. It is shown only now. */
  token: string
}

export interface Rotation {
  /** How long the old token lives on; 24 when absent. At most 720. */
  overlapHours?: number | undefined
}

export interface Application {
  /** Its `client_id`. */
  clientId: string
  /** What users see when they are asked. At most 255 characters. */
  name: string
  /** Where users may be sent back to. */
  redirectUris: string[]
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** It runs on a device: any port of a loopback address, and private schemes. */
  isNative: boolean
  /** It gets refresh tokens. */
  mayRefresh: boolean
  /** How many consents to it stand in this tenant. */
  consents: number
  /** When the application was registered. RFC 3339, UTC. */
  createdAt: string
  /** When it was disabled; null while it works. RFC 3339, UTC. */
  disabledAt: string | null
}

export interface ApplicationList {
  /** All of them. */
  items: Application[]
}

export interface ApplicationInput {
  /** What users see when they are asked. At most 255 characters. */
  name: string
  /** Where users may be sent back to. */
  redirectUris: string[]
  /** What it may do; a personal token never more than the role of its user. */
  scopes: Scope[]
  /** It runs on a device: any port of a loopback address, and private schemes. */
  isNative?: boolean | undefined
  /** It gets refresh tokens. */
  mayRefresh?: boolean | undefined
}

export interface ApplicationChange {
  /** Refuse the application and its tokens from now on. */
  isDisabled: boolean
}

export interface LegacySystem {
  /** Whether the tenant has a legacy system. */
  isAttached: boolean
  /** Where records are handed to, without user name, password and query. */
  url: string | null
  /** Since when. RFC 3339, UTC. */
  attachedAt: string | null
  /** Deliveries that wait for their turn or for another attempt. */
  waiting: number
  /** Deliveries that were given up after three days. */
  failed: number
  /** When the oldest that waits was written. RFC 3339, UTC. */
  oldestWaiting: string | null
  /** What the last failed attempt met. */
  lastError: string | null
  /** When that was. RFC 3339, UTC. */
  lastErrorAt: string | null
}

export interface LegacyRetry {
  /** Failed deliveries that are tried again. */
  retried: number
  /** Waiting deliveries that are tried at once. */
  hastened: number
}

export interface WebhookEndpoint {
  /** Identifier of the endpoint. A UUID. */
  id: string
  /** `legacy`: the legacy system, which the operator attaches. It can be looked at here, and not changed. */
  kind: 'webhook' | 'legacy'
  /** Where events are posted to; of a legacy system without the query. */
  url: string
  /** What it is for; empty when nobody said. */
  description: string
  /** The types of events that it is told of; empty for a legacy system, which is told of every record. */
  events: string[]
  /** When it was made. RFC 3339, UTC. */
  createdAt: string
  /** When it was disabled; null while it is told of events. RFC 3339, UTC. */
  disabledAt: string | null
  /** `requested`: somebody disabled it. `gone`: it answered 410. `failing`: it took nothing for five days. Null while it is not. */
  disabledBecause: string | null
  /** Since when every attempt has failed; null when the last one was taken. RFC 3339, UTC. */
  failingSince: string | null
  /** Until when events are also signed with the former secret. RFC 3339, UTC. */
  formerSecretUntil: string | null
  /** Deliveries that wait for their turn or for another attempt. */
  waiting: number
  /** Deliveries that were given up. */
  failed: number
}

export interface WebhookEndpointList {
  /** All of them. */
  items: WebhookEndpoint[]
}

export interface WebhookEndpointInput {
  /** Where events are posted to: a public `https` address. At most 2048 characters. */
  url: string
  /** The types of events that it is told of. */
  events: WebhookEventType[]
  /** What it is for. At most 255 characters. */
  description?: string | undefined
}

export interface ShownWebhookEndpoint {
  /** Identifier of the endpoint. A UUID. */
  id: string
  /** `legacy`: the legacy system, which the operator attaches. It can be looked at here, and not changed. */
  kind: 'webhook' | 'legacy'
  /** Where events are posted to; of a legacy system without the query. */
  url: string
  /** What it is for; empty when nobody said. */
  description: string
  /** The types of events that it is told of; empty for a legacy system, which is told of every record. */
  events: string[]
  /** When it was made. RFC 3339, UTC. */
  createdAt: string
  /** When it was disabled; null while it is told of events. RFC 3339, UTC. */
  disabledAt: string | null
  /** `requested`: somebody disabled it. `gone`: it answered 410. `failing`: it took nothing for five days. Null while it is not. */
  disabledBecause: string | null
  /** Since when every attempt has failed; null when the last one was taken. RFC 3339, UTC. */
  failingSince: string | null
  /** Until when events are also signed with the former secret. RFC 3339, UTC. */
  formerSecretUntil: string | null
  /** Deliveries that wait for their turn or for another attempt. */
  waiting: number
  /** Deliveries that were given up. */
  failed: number
  /** The secret that signs events (`whsec_…`). It is shown only now. */
  secret: string
}

export interface WebhookEndpointChange {
  /** Where events are posted to: a public `https` address. At most 2048 characters. */
  url?: string | undefined
  /** The types of events that it is told of. */
  events?: WebhookEventType[] | undefined
  /** What it is for. At most 255 characters. */
  description?: string | undefined
  /** Stop sending; what happens is recorded for 30 days. False: send again what waits. */
  isDisabled?: boolean | undefined
}

export interface WebhookReplayInput {
  /** Events from this moment on are sent again. RFC 3339, UTC. */
  since: string
}

export interface WebhookReplay {
  /** Deliveries that are sent again, in order and under the same ids. */
  replayed: number
}

export interface WebhookDelivery {
  /** The `webhook-id` of the event (`msg_…`), which every attempt carries. */
  id: string
  /** The endpoint. A UUID. */
  endpointId: string
  /** Number of the event; newer ones have larger numbers. */
  number: number
  /** Type of the event. */
  type: string
  /** The record that it tells of. A UUID. */
  recordId: string
  /** `failed`: it was given up after the last attempt. `waiting`: it waits for its turn or for another attempt. */
  state: 'waiting' | 'delivered' | 'failed'
  /** When the event happened. RFC 3339, UTC. */
  createdAt: string
  /** How many attempts were begun. */
  attempts: number
  /** When the last attempt began; null before the first. RFC 3339, UTC. */
  triedAt: string | null
  /** When the next attempt is due; null when there is none. RFC 3339, UTC. */
  nextAttemptAt: string | null
  /** Status of the last response; null when there was none. */
  status: number | null
  /** Why the last attempt failed; null when it was taken, and before the first. */
  error: string | null
  /** How long the last attempt took, in milliseconds. */
  durationMs: number | null
}

export interface WebhookDeliveryList {
  /** Up to 50 deliveries. */
  items: WebhookDelivery[]
  /** Give it as `before` for older ones; null when there are none. */
  next: number | null
}

export interface WebhookDeliveryDetail {
  /** The `webhook-id` of the event (`msg_…`), which every attempt carries. */
  id: string
  /** The endpoint. A UUID. */
  endpointId: string
  /** Number of the event; newer ones have larger numbers. */
  number: number
  /** Type of the event. */
  type: string
  /** The record that it tells of. A UUID. */
  recordId: string
  /** `failed`: it was given up after the last attempt. `waiting`: it waits for its turn or for another attempt. */
  state: 'waiting' | 'delivered' | 'failed'
  /** When the event happened. RFC 3339, UTC. */
  createdAt: string
  /** How many attempts were begun. */
  attempts: number
  /** When the last attempt began; null before the first. RFC 3339, UTC. */
  triedAt: string | null
  /** When the next attempt is due; null when there is none. RFC 3339, UTC. */
  nextAttemptAt: string | null
  /** Status of the last response; null when there was none. */
  status: number | null
  /** Why the last attempt failed; null when it was taken, and before the first. */
  error: string | null
  /** How long the last attempt took, in milliseconds. */
  durationMs: number | null
  /** What is sent. */
  request: {
    /** The address that it is posted to, without the query. */
    url: string
    /** The body, byte for byte. The signature covers it. */
    body: string
  }
  /** The first 4096 bytes of the last response; null when there was none. */
  response: string | null
}

export interface Import {
  /** Identifier of the import. A UUID. */
  id: string
  /** How it stands. One that was interrupted is completed by the same file again, or undone. */
  state: 'running' | 'interrupted' | 'done' | 'undone' | 'done, too old to undo'
  /** When it began to write. RFC 3339, UTC. */
  startedAt: string
  /** When it ended; null while it runs, and when it was interrupted. RFC 3339, UTC. */
  endedAt: string | null
  /** When it was undone; null when it was not. RFC 3339, UTC. */
  undoneAt: string | null
  /** The run that brought it, for a day; null for one of the command line. */
  runId: string | null
  /** What it did, file by file. */
  files: {
    /** Name of the file. */
    file: string
    /** What it holds. */
    resource: string
    /** Records that were created. */
    created: number
    /** Records that were changed. */
    changed: number
    /** Records that were the same already. */
    unchanged: number
    /** Rows that were refused. */
    refused: number
  }[]
}

export interface ImportList {
  /** All of them. */
  items: Import[]
}

export interface ImportRun {
  /** Identifier of the run. A UUID. */
  id: string
  /** What is done. */
  kind: 'import' | 'undo'
  /** `inspected`: the file was looked at. `checked`: the import was only tried. `interrupted`: the process that did it has ended; start it again. `cancelled`: somebody ended it, and what it had written was taken back. */
  state: 'receiving' | 'running' | 'interrupted' | 'inspected' | 'checked' | 'done' | 'failed' | 'cancelled'
  /** Name of the file; empty for an undo. */
  fileName: string
  /** What the file holds; empty while nobody knows, and for an undo. */
  resource: string
  /** How the file is read, where that was decided. The rest is noticed. */
  options: ImportOptions
  /** What was noticed in the file; null before somebody looked. */
  inspection: {
    /** What the file is. */
    format: 'csv' | 'ndjson' | 'json' | 'xlsx'
    /** How its text is encoded; empty for a workbook. */
    encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'latin1' | ''
    /** What separates cells; empty where nothing does. */
    separator: string
    /** What protects special characters in text with separators, where the option `escapes` decides what is in doubt; empty for others. */
    escapes: 'quotes' | 'backslashes' | 'both' | 'in doubt' | ''
    /** The sheets of a workbook. */
    sheets: string[]
    /** The sheet that is read; empty when it is no workbook. */
    sheet: string
    /** The files of an archive, in its order. They are imported together. */
    members: {
      /** Name of a file in an archive. At most 1000 characters. */
      name: string
      /** What it holds; null when nobody can tell, or it is left out. */
      resource: string | null
      /** It is not imported. */
      isLeftOut: boolean
      /** Rows, without the header; 0 when it is left out. */
      rows: number
      /** How many reasons there are why it cannot be imported yet. */
      problems: number
    }[]
    /** The file of the archive that is looked at here; empty when it is no archive. */
    member: string
    /** Rows, without the header. */
    rows: number
    /** What the file holds; null when nobody can tell. */
    resource: string | null
    /** How the resource was found; empty when it was not. */
    resourceNoticed: 'given' | 'name' | 'columns' | ''
    /** What the file could hold by its columns, the best first. */
    candidates: {
      /** What it could hold. */
      resource: ListedName
      /** How many columns fit. */
      matched: number
    }[]
    /** The options are those of an earlier import with the same header. */
    isRemembered: boolean
    /** The columns in the order of the file. */
    columns: {
      /** Heading of a column, as it stands in the file. At most 1000 characters. */
      heading: string
      /** The three first values that are not empty. */
      examples: string[]
      /** The field that it holds; null when it is left out, or unknown. */
      field: string | null
      /** Why: it has the name of the field in the API, one of its names in four languages, or somebody chose. */
      match: 'exact' | 'name' | 'chosen' | 'left out' | 'unknown'
      /** Cells that are not empty. */
      values: number
    }[]
    /** Headings that match no field, and that nobody has decided about. */
    unknown: string[]
    /** How values are written, where it is not as in the API. */
    formats: {
      /** The field. */
      field: string
      /** The heading of its column. */
      heading: string
      /** How values are written, such as `day.month.year`; empty while that is in doubt. */
      format: string
      /** Values that are written so. */
      fits: number
      /** Values of the column. */
      values: number
      /** The option that decides; empty where none does. */
      option: 'dates' | 'decimal' | 'timeZone' | 'epoch' | ''
      /** Of a doubt: what each value of the option would make of the first doubtful value. */
      choices: {
        /** A value of the option. */
        value: string
        /** What it would make of a value. */
        example: string
      }[]
    }[]
    /** Values that are no known status. They go in as they are unless they are translated. */
    statuses: {
      /** The field. */
      field: string
      /** The value. */
      value: string
      /** How often it occurs. */
      count: number
    }[]
    /** What apostrophes in front of texts are, where they could be marks of an export for spreadsheets; `isForSpreadsheet` decides. */
    apostrophes: 'none' | 'marks' | 'text' | 'in doubt'
    /** What was understood, as sentences. */
    notes: string[]
    /** Why the file cannot be imported yet, as sentences. */
    problems: string[]
    /** What the first rows would become. */
    preview: {
      /** The fields that the file gives. */
      fields: string[]
      /** The first twenty. */
      rows: {
        /** Line of the file. */
        line: number
        /** What each field would hold, in the order of the fields. */
        values: (string | null)[]
        /** Why the row would be refused, as far as the file alone tells. */
        problem: string | null
      }[]
    }
  } | null
  /** How much of the file has arrived. */
  bytes: number
  /** How far it is; null before it starts. */
  progress: {
    /** What it is at. */
    step: 'reading' | 'judging' | 'writing' | 'undoing'
    /** How much of that is done, in bytes or records. */
    done: number
    /** How much there is; 0 when nobody knows. */
    of: number
    /** Rows or records so far. */
    rows: number
  } | null
  /** Records that it creates, or would. */
  created: number
  /** Records that it changes, or would. */
  changed: number
  /** Records that are the same already. */
  unchanged: number
  /** Rows that are refused. */
  refused: number
  /** The first rows that are refused. */
  refusals: {
    /** The file of an archive; empty when it is none. */
    file: string
    /** Line of the file. */
    line: number
    /** Column; empty when it is the row as a whole. */
    column: string
    /** Why. */
    reason: string
  }[]
  /** All refusals by reason, the most frequent first, 50 at most. */
  groups: {
    /** The file of an archive; empty when it is none. */
    file: string
    /** Field; empty when it is the row as a whole. */
    column: string
    /** Why, without the values of rows. */
    reason: string
    /** Why the first of them is refused. */
    example: string
    /** How many rows. */
    count: number
    /** The lines of the first five. */
    lines: number[]
  }[]
  /** The same by file: an archive may hold several. Empty before it was checked. */
  files: {
    /** Its name; of an archive, that of the file in it. */
    file: string
    /** What it holds. */
    resource: string
    /** Records that it creates, or would. */
    created: number
    /** Records that it changes, or would. */
    changed: number
    /** Records that are the same already. */
    unchanged: number
    /** Rows that are refused. */
    refused: number
  }[]
  /** Records that an undo removed. */
  removed: number
  /** Records that an undo gave their former values. */
  restored: number
  /** Records that an undo left, because somebody changed them since. */
  kept: number
  /** The refused rows can be got as a file. */
  hasRejectedRows: boolean
  /** Identifier of the import that it made or undid. */
  importId: string | null
  /** Why it failed. */
  problem: string | null
  /** When it was begun. RFC 3339, UTC. */
  createdAt: string
}

/** How the file is read, where that was decided. The rest is noticed. */
export interface ImportOptions {
  /** How the text is encoded; noticed when absent. */
  encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'latin1' | undefined
  /** What protects special characters in text with separators; noticed when absent. */
  escapes?: 'quotes' | 'backslashes' | 'both' | undefined
  /** Which sheet of a workbook; the first one when absent. At most 255 characters. */
  sheet?: string | undefined
  /** What comes first in dates such as 01/02/2026, where the values leave doubt. */
  dates?: 'dmy' | 'mdy' | undefined
  /** What precedes the decimals of numbers such as 1.234, where the values leave doubt. */
  decimal?: 'comma' | 'point' | undefined
  /** Where clocks showed the times that have no zone: `Europe/Berlin`, `UTC`, `+01:00`. At most 100 characters. */
  timeZone?: string | undefined
  /** What instants count that are written as whole numbers since 1970. */
  epoch?: 'seconds' | 'milliseconds' | undefined
  /** Whether an apostrophe in front of a text marks it for spreadsheets, as in an export. */
  isForSpreadsheet?: boolean | undefined
  /** Leave out columns that match no field. */
  ignoreUnknown?: boolean | undefined
  /** Which fields columns hold, where that was chosen. */
  columns?: ImportColumn[] | undefined
  /** Columns of which several fields are made: first and last name of a name. */
  splits?: ImportSplit[] | undefined
  /** Fields that several columns make: an address of street and number. */
  joins?: ImportJoin[] | undefined
  /** Values that stand for others, by field: `aktiv` for `active`. */
  translations?: ImportTranslation[] | undefined
  /** Which file of an archive is looked at; the first one that is imported when absent. At most 1000 characters. */
  member?: string | undefined
  /** What was decided about single files of an archive, instead of what holds for all. */
  members?: ImportMember[] | undefined
}

export interface ImportColumn {
  /** Heading of a column, as it stands in the file. At most 1000 characters. */
  heading: string
  /** The field that it holds; null leaves it out. At most 100 characters. */
  field: string | null
}

export interface ImportSplit {
  /** Heading of a column, as it stands in the file. At most 1000 characters. */
  heading: string
  /** In the order of the parts. With more parts than fields, the first field gets the rest. */
  into: (string | null)[]
  /** What separates the parts. At most 20 characters. */
  at: string
}

export interface ImportJoin {
  /** Name of a field. At most 100 characters. */
  field: string
  /** The columns in their order. */
  of: string[]
  /** What is put between their values. At most 20 characters. */
  with: string
}

export interface ImportTranslation {
  /** Name of a field. At most 100 characters. */
  field: string
  /** A value, as it stands in the file. At most 255 characters. */
  from: string
  /** What it stands for; null: nothing. At most 255 characters. */
  to: string | null
}

export interface ImportMember {
  /** Name of a file in an archive. At most 1000 characters. */
  name: string
  /** What it holds; noticed when absent. */
  resource?: ListedName | undefined
  /** Whether it is not imported. Where files are named after what they hold, others are left out when absent. */
  isLeftOut?: boolean | undefined
  /**  */
  options?: ImportFileOptions | undefined
}

export interface ImportFileOptions {
  /** How the text is encoded; noticed when absent. */
  encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'latin1' | undefined
  /** What protects special characters in text with separators; noticed when absent. */
  escapes?: 'quotes' | 'backslashes' | 'both' | undefined
  /** Which sheet of a workbook; the first one when absent. At most 255 characters. */
  sheet?: string | undefined
  /** What comes first in dates such as 01/02/2026, where the values leave doubt. */
  dates?: 'dmy' | 'mdy' | undefined
  /** What precedes the decimals of numbers such as 1.234, where the values leave doubt. */
  decimal?: 'comma' | 'point' | undefined
  /** Where clocks showed the times that have no zone: `Europe/Berlin`, `UTC`, `+01:00`. At most 100 characters. */
  timeZone?: string | undefined
  /** What instants count that are written as whole numbers since 1970. */
  epoch?: 'seconds' | 'milliseconds' | undefined
  /** Whether an apostrophe in front of a text marks it for spreadsheets, as in an export. */
  isForSpreadsheet?: boolean | undefined
  /** Leave out columns that match no field. */
  ignoreUnknown?: boolean | undefined
  /** Which fields columns hold, where that was chosen. */
  columns?: ImportColumn[] | undefined
  /** Columns of which several fields are made: first and last name of a name. */
  splits?: ImportSplit[] | undefined
  /** Fields that several columns make: an address of street and number. */
  joins?: ImportJoin[] | undefined
  /** Values that stand for others, by field: `aktiv` for `active`. */
  translations?: ImportTranslation[] | undefined
}

export interface ImportRunInput {
  /** Name of the file. At most 255 characters. */
  fileName: string
  /** What the file holds; noticed by its name or columns when absent. */
  resource?: ListedName | undefined
}

export interface ImportPart {
  /** Its place; the first is 1. At most 1000. */
  number: number
  /** Up to 180000 bytes of the file, in base64. At most 240000 characters. */
  content: string
}

export interface ImportRunChange {
  /** What the file holds. */
  resource?: ListedName | undefined
  /** How the file is read, where that was decided. The rest is noticed. */
  options?: ImportOptions | undefined
}

export interface RejectedRows {
  /** What to call the file. */
  fileName: string
  /** The refused rows in base64, with the reason in front: separated and encoded as the file that came, ready to be mended. Of an archive with several files, an archive. */
  content: string
}

export interface ImportTemplate {
  /** What to call the file. */
  fileName: string
  /** A CSV file in base64, whose only line names the columns. */
  content: string
}

export interface RecordChange {
  /** Number of the change; newer ones have larger numbers. */
  number: number
  /** When it happened. RFC 3339, UTC. */
  at: string
  /** Who did it. */
  author: {
    /** A `personal`, `service` or `delegated` token, an `operator`, `masthead` itself, or an `import`. */
    kind: string
    /** The user or integration, as far as known. */
    name: string | null
    /** The application that acted for the user; null where none did. */
    application: string | null
  }
  /** What was done: `created`, `updated`, `deleted`, `restored`. */
  action: string
  /** The record before, with the fields that responses show; null where there was none, or what was noted has been erased. */
  before: unknown
  /** The record after, with the fields that responses show; null where there was none, or what was noted has been erased. */
  after: unknown
  /** What was noted of it has been erased on request of the person. */
  isErased: boolean
}

export interface RecordHistory {
  /** Up to 20 changes. */
  items: RecordChange[]
  /** Give it as `before` for older ones; null when there are none. */
  next: number | null
}

export interface AuditEntry {
  /** Number of the entry; newer ones have larger numbers. */
  number: number
  /** When it happened. RFC 3339, UTC. */
  at: string
  /** Who did it. */
  author: {
    /** A `personal`, `service` or `delegated` token, a `visitor`, an `operator`, `masthead` itself, or an `import`. */
    kind: string
    /** The user, integration, application or operator, as far as known. */
    name: string | null
    /** The application that acted for the user; null where none did. */
    application: string | null
    /** The address that the call came from. */
    address: string | null
    /** Finds the call in the log of the operator. */
    requestId: string | null
  }
  /** What was done. */
  action: string
  /** To what kind of thing. */
  resource: string
  /** To which one. */
  recordId: string
  /** The user, or the application consented to, that the identifier stands for; null where it stands for neither. */
  recordName: string | null
  /** What it was before; null where there is nothing to tell. */
  before: unknown
  /** What it was after; null where there is nothing to tell. */
  after: unknown
  /** What was noted of it has been erased on request of the person. */
  isErased: boolean
}

export interface AuditEntryList {
  /** Up to 50 entries. */
  items: AuditEntry[]
  /** Give it as `before` for older ones; null when there are none. */
  next: number | null
}

/** Given to `deliveries.list`. */
export interface WebhookDeliveryQuery {
  /** Only deliveries with smaller numbers: `next` of the answer before. At most 9007199254740991. */
  before?: number | undefined
  /** Only deliveries in this state. */
  state?: 'waiting' | 'delivered' | 'failed' | undefined
}

/** Given to `history.list`. */
export interface RecordChangeQuery {
  /** Only changes with smaller numbers: `next` of the answer before. At most 9007199254740991. */
  before?: number | undefined
}

/** Given to `auditEntries.list`. */
export interface AuditEntryQuery {
  /** Only entries with smaller numbers: `next` of the answer before. At most 9007199254740991. */
  before?: number | undefined
  /** Only what was done to this kind of thing. */
  resource?: string | undefined
  /** Only what was done to this one; with `resource`. */
  recordId?: string | undefined
  /** Also each token that an application got by a consent, and each opening of the console. */
  includeIssued?: boolean | undefined
}

/** The user who is signed in. */
export class MeCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Get who is signed in, and where. Needs `self:manage`. */
  get(options: CallOptions = {}): Promise<Me> {
    return this.#caller.call('GetMe', 'GET', ['me'], options)
  }

  /** End the session of this browser, or all sessions; tokens of the console end with it. Needs `self:manage`. */
  signOut(input: SignOut, options: KeyedOptions = {}): Promise<SignedOut> {
    return this.#caller.call('SignOut', 'POST', ['me', 'sign-out'], options, input)
  }

  /** List what acts in the name of the user, in all tenants. Needs `self:manage`. */
  credentials(options: CallOptions = {}): Promise<Credentials> {
    return this.#caller.call('GetCredentials', 'GET', ['me', 'credentials'], options)
  }

  /** Change the password; all sessions, consents and personal access tokens end, but for the tokens to keep. Needs `self:manage`. */
  password(input: PasswordInput, options: CallOptions = {}): Promise<Credentials> {
    return this.#caller.call('ChangePassword', 'PATCH', ['me', 'password'], options, input)
  }
}

/** What holds for all members of the tenant. */
export class TenantCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Get the settings of the tenant. Needs `self:manage`. */
  get(options: CallOptions = {}): Promise<TenantSettings> {
    return this.#caller.call('GetTenant', 'GET', ['tenant'], options)
  }

  /** Change the settings of the tenant. Needs `tenant:manage`. */
  update(input: TenantSettingsInput, options: CallOptions = {}): Promise<TenantSettings> {
    return this.#caller.call('UpdateTenant', 'PATCH', ['tenant'], options, input)
  }
}

/** How the business of the tenant stands. */
export class OverviewCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Get figures about subscriptions, renewals and receivables. Needs `overview:read`. */
  get(options: CallOptions = {}): Promise<Overview> {
    return this.#caller.call('GetOverview', 'GET', ['overview'], options)
  }
}

/** Personal access tokens of the user who is signed in, for this tenant. */
export class TokensCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List your personal access tokens, the newest first. Needs `tokens:manage`. */
  list(options: CallOptions = {}): Promise<TokenList> {
    return this.#caller.call('GetTokens', 'GET', ['tokens'], options)
  }

  /** Make a personal access token, of 100 at most that work; it is shown once. Needs `tokens:manage`. */
  create(input: TokenInput, options: KeyedOptions = {}): Promise<ShownToken> {
    return this.#caller.call('CreateToken', 'POST', ['tokens'], options, input)
  }

  /** Revoke a personal access token at once. Needs `tokens:manage`. */
  delete(tokenId: string, options: CallOptions = {}): Promise<Token> {
    return this.#caller.call('RevokeToken', 'DELETE', ['tokens', tokenId], options)
  }
}

/** What the user who is signed in allowed applications to do in this tenant. */
export class ConsentsCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List your consents that stand, the newest first. Needs `consents:manage`. */
  list(options: CallOptions = {}): Promise<ConsentList> {
    return this.#caller.call('GetConsents', 'GET', ['consents'], options)
  }

  /** Withdraw a consent; the tokens of the application end at the next request. Needs `consents:manage`. */
  delete(consentId: string, options: CallOptions = {}): Promise<Consent> {
    return this.#caller.call('WithdrawConsent', 'DELETE', ['consents', consentId], options)
  }
}

/** Who may sign in to the tenant, and what they may do. */
export class MembersCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the members, by e-mail address. Needs `members:manage`. */
  list(options: CallOptions = {}): Promise<MemberList> {
    return this.#caller.call('GetMembers', 'GET', ['members'], options)
  }

  /** Change what a member may do; takes effect at the next request. Needs `members:manage`. */
  update(userId: string, input: MemberInput, options: CallOptions = {}): Promise<Member> {
    return this.#caller.call('UpdateMember', 'PATCH', ['members', userId], options, input)
  }

  /** End a membership, with all tokens and consents of it. Needs `members:manage`. */
  delete(userId: string, options: CallOptions = {}): Promise<Member> {
    return this.#caller.call('RemoveMember', 'DELETE', ['members', userId], options)
  }
}

/** Links by which people become members. They are mailed where the operator has set up a mail server; else pass them on yourself. */
export class InvitationsCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the invitations that can still be accepted, the newest first. Needs `members:manage`. */
  list(options: CallOptions = {}): Promise<InvitationList> {
    return this.#caller.call('GetInvitations', 'GET', ['invitations'], options)
  }

  /** Invite somebody; the link is mailed or shown once, and replaces an earlier one to the same address. Needs `members:manage`. */
  create(input: InvitationInput, options: KeyedOptions = {}): Promise<ShownInvitation> {
    return this.#caller.call('CreateInvitation', 'POST', ['invitations'], options, input)
  }

  /** Withdraw an invitation. Needs `members:manage`. */
  delete(invitationId: string, options: CallOptions = {}): Promise<Invitation> {
    return this.#caller.call('WithdrawInvitation', 'DELETE', ['invitations', invitationId], options)
  }
}

/** Tokens of integrations, which belong to the tenant and to no user. */
export class ServiceTokensCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the service tokens, the newest first. Needs `service-tokens:manage`. */
  list(options: CallOptions = {}): Promise<ServiceTokenList> {
    return this.#caller.call('GetServiceTokens', 'GET', ['service-tokens'], options)
  }

  /** Make a service token; it is shown once. Needs `service-tokens:manage`. */
  create(input: ServiceTokenInput, options: KeyedOptions = {}): Promise<ShownServiceToken> {
    return this.#caller.call('CreateServiceToken', 'POST', ['service-tokens'], options, input)
  }

  /** Make a successor of a service token; the old one lives on for the overlap. Needs `service-tokens:manage`. */
  rotate(tokenId: string, input: Rotation, options: KeyedOptions = {}): Promise<ShownServiceToken> {
    return this.#caller.call('RotateServiceToken', 'POST', ['service-tokens', tokenId, 'rotate'], options, input)
  }

  /** Revoke a service token at once. Needs `service-tokens:manage`. */
  delete(tokenId: string, options: CallOptions = {}): Promise<ServiceToken> {
    return this.#caller.call('RevokeServiceToken', 'DELETE', ['service-tokens', tokenId], options)
  }
}

/** Applications that the tenant registered, which act for its members by OAuth 2.0. */
export class ApplicationsCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the applications of the tenant, the newest first. Needs `applications:manage`. */
  list(options: CallOptions = {}): Promise<ApplicationList> {
    return this.#caller.call('GetApplications', 'GET', ['applications'], options)
  }

  /** Register an application; only members of this tenant can consent to it. Needs `applications:manage`. */
  create(input: ApplicationInput, options: KeyedOptions = {}): Promise<Application> {
    return this.#caller.call('RegisterApplication', 'POST', ['applications'], options, input)
  }

  /** Disable or enable an application; takes effect at the next request. Needs `applications:manage`. */
  update(clientId: string, input: ApplicationChange, options: CallOptions = {}): Promise<Application> {
    return this.#caller.call('UpdateApplication', 'PATCH', ['applications', clientId], options, input)
  }
}

/** The legacy system of the tenant, and what is on its way to it. */
export class LegacySystemCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Get the state of the legacy system. Needs `legacy:manage`. */
  get(options: CallOptions = {}): Promise<LegacySystem> {
    return this.#caller.call('GetLegacySystem', 'GET', ['legacy-system'], options)
  }

  /** Try failed and waiting deliveries now. Needs `legacy:manage`. */
  retry(options: KeyedOptions = {}): Promise<LegacyRetry> {
    return this.#caller.call('RetryDeliveries', 'POST', ['legacy-system', 'retry'], options)
  }
}

/** Addresses outside that are told what happens in the tenant. */
export class WebhookEndpointsCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the endpoints, the newest first. Needs `webhooks:manage`. */
  list(options: CallOptions = {}): Promise<WebhookEndpointList> {
    return this.#caller.call('GetWebhookEndpoints', 'GET', ['webhook-endpoints'], options)
  }

  /** Make an endpoint; its secret is shown once. Needs `webhooks:manage`. */
  create(input: WebhookEndpointInput, options: KeyedOptions = {}): Promise<ShownWebhookEndpoint> {
    return this.#caller.call('CreateWebhookEndpoint', 'POST', ['webhook-endpoints'], options, input)
  }

  /** Get an endpoint. Needs `webhooks:manage`. */
  get(endpointId: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#caller.call('GetWebhookEndpoint', 'GET', ['webhook-endpoints', endpointId], options)
  }

  /** Change an endpoint, disable or enable it. Needs `webhooks:manage`. */
  update(endpointId: string, input: WebhookEndpointChange, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#caller.call('UpdateWebhookEndpoint', 'PATCH', ['webhook-endpoints', endpointId], options, input)
  }

  /** Delete an endpoint with its deliveries. Needs `webhooks:manage`. */
  delete(endpointId: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#caller.call('DeleteWebhookEndpoint', 'DELETE', ['webhook-endpoints', endpointId], options)
  }

  /** Make a new secret; both sign for 24 hours. Needs `webhooks:manage`. */
  rotateSecret(endpointId: string, options: KeyedOptions = {}): Promise<ShownWebhookEndpoint> {
    return this.#caller.call('RotateWebhookSecret', 'POST', ['webhook-endpoints', endpointId, 'rotate-secret'], options)
  }

  /** Send the events of an endpoint again from a moment on. Needs `webhooks:manage`. */
  replay(endpointId: string, input: WebhookReplayInput, options: KeyedOptions = {}): Promise<WebhookReplay> {
    return this.#caller.call('ReplayWebhookEvents', 'POST', ['webhook-endpoints', endpointId, 'replay'], options, input)
  }
}

/** What was sent to an endpoint in the last 30 days, and what waits. */
export class DeliveriesCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the deliveries of an endpoint, the newest first, 50 at a time. Needs `webhooks:manage`. */
  list(endpointId: string, query: WebhookDeliveryQuery = {}, options: CallOptions = {}): Promise<WebhookDeliveryList> {
    return this.#caller.call(
      'GetWebhookDeliveries',
      'GET',
      ['webhook-endpoints', endpointId, 'deliveries'],
      options,
      undefined,
      query,
    )
  }

  /** Send a test event to an endpoint. Needs `webhooks:manage`. */
  test(endpointId: string, options: KeyedOptions = {}): Promise<WebhookDelivery> {
    return this.#caller.call('SendTestEvent', 'POST', ['webhook-endpoints', endpointId, 'test'], options)
  }

  /** Get a delivery with its request and the response. Needs `webhooks:manage`. */
  get(endpointId: string, deliveryId: string, options: CallOptions = {}): Promise<WebhookDeliveryDetail> {
    return this.#caller.call(
      'GetWebhookDelivery',
      'GET',
      ['webhook-endpoints', endpointId, 'deliveries', deliveryId],
      options,
    )
  }

  /** Send a delivery again now, under the same id. Needs `webhooks:manage`. */
  resend(endpointId: string, deliveryId: string, options: KeyedOptions = {}): Promise<WebhookDelivery> {
    return this.#caller.call(
      'ResendWebhookDelivery',
      'POST',
      ['webhook-endpoints', endpointId, 'deliveries', deliveryId, 'resend'],
      options,
    )
  }
}

/** Imports that wrote records, from the console and from the command line. */
export class ImportsCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the imports, the newest first. Needs `imports:manage`. */
  list(options: CallOptions = {}): Promise<ImportList> {
    return this.#caller.call('GetImports', 'GET', ['imports'], options)
  }

  /** Take back an import, where nothing changed since; possible for 30 days. Needs `imports:manage`. */
  undo(importId: string, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('UndoImport', 'POST', ['imports', importId, 'undo'], options)
  }
}

/** A file on its way into the records: sent in parts, checked, then imported. Kept for a day. */
export class ImportRunsCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Announce a file. Needs `imports:manage`. */
  create(input: ImportRunInput, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('CreateImportRun', 'POST', ['import-runs'], options, input)
  }

  /** Send a part of the file. Needs `imports:manage`. */
  parts(runId: string, input: ImportPart, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('AddImportPart', 'POST', ['import-runs', runId, 'parts'], options, input)
  }

  /** Decide how the file is read; options that are given replace all former ones. Needs `imports:manage`. */
  update(runId: string, input: ImportRunChange, options: CallOptions = {}): Promise<ImportRun> {
    return this.#caller.call('UpdateImportRun', 'PATCH', ['import-runs', runId], options, input)
  }

  /** See how the file is written, and what its first rows would become. Needs `imports:manage`. */
  inspect(runId: string, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('InspectImport', 'POST', ['import-runs', runId, 'inspect'], options)
  }

  /** See what the import would do; nothing is written. Needs `imports:manage`. */
  check(runId: string, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('CheckImport', 'POST', ['import-runs', runId, 'check'], options)
  }

  /** Import the file. Needs `imports:manage`. */
  start(runId: string, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('StartImport', 'POST', ['import-runs', runId, 'start'], options)
  }

  /** End what is running; what it has written is taken back. Needs `imports:manage`. */
  cancel(runId: string, options: KeyedOptions = {}): Promise<ImportRun> {
    return this.#caller.call('CancelImport', 'POST', ['import-runs', runId, 'cancel'], options)
  }

  /** Get how far it is. Needs `imports:manage`. */
  get(runId: string, options: CallOptions = {}): Promise<ImportRun> {
    return this.#caller.call('GetImportRun', 'GET', ['import-runs', runId], options)
  }

  /** Get the refused rows as a file, ready to be mended and imported again. Needs `imports:manage`. */
  rejectedRows(runId: string, options: CallOptions = {}): Promise<RejectedRows> {
    return this.#caller.call('GetRejectedRows', 'GET', ['import-runs', runId, 'rejected-rows'], options)
  }
}

/** Files to fill in, one for each resource. */
export class ImportTemplatesCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Get a file with the columns of a resource. Needs `imports:manage`. */
  get(resource: string, options: CallOptions = {}): Promise<ImportTemplate> {
    return this.#caller.call('GetImportTemplate', 'GET', ['import-templates', resource], options)
  }
}

/** What was done to one record, for members who may read it. */
export class HistoryCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List the changes of a record, the newest first, 20 at a time. Needs `history:read`. */
  list(
    resource: string,
    recordId: string,
    query: RecordChangeQuery = {},
    options: CallOptions = {},
  ): Promise<RecordHistory> {
    return this.#caller.call('GetHistory', 'GET', ['history', resource, recordId], options, undefined, query)
  }
}

/** What was done in the tenant, and by whom. */
export class AuditEntriesCalls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List what was done, the newest first, 50 at a time. Needs `audit:read`. */
  list(query: AuditEntryQuery = {}, options: CallOptions = {}): Promise<AuditEntryList> {
    return this.#caller.call('GetAuditEntries', 'GET', ['audit-entries'], options, undefined, query)
  }
}

/** Every resource of the interface. */
export class ManagementResources {
  /** The user who is signed in. */
  readonly me: MeCalls
  /** What holds for all members of the tenant. */
  readonly tenant: TenantCalls
  /** How the business of the tenant stands. */
  readonly overview: OverviewCalls
  /** Personal access tokens of the user who is signed in, for this tenant. */
  readonly tokens: TokensCalls
  /** What the user who is signed in allowed applications to do in this tenant. */
  readonly consents: ConsentsCalls
  /** Who may sign in to the tenant, and what they may do. */
  readonly members: MembersCalls
  /** Links by which people become members. They are mailed where the operator has set up a mail server; else pass them on yourself. */
  readonly invitations: InvitationsCalls
  /** Tokens of integrations, which belong to the tenant and to no user. */
  readonly serviceTokens: ServiceTokensCalls
  /** Applications that the tenant registered, which act for its members by OAuth 2.0. */
  readonly applications: ApplicationsCalls
  /** The legacy system of the tenant, and what is on its way to it. */
  readonly legacySystem: LegacySystemCalls
  /** Addresses outside that are told what happens in the tenant. */
  readonly webhookEndpoints: WebhookEndpointsCalls
  /** What was sent to an endpoint in the last 30 days, and what waits. */
  readonly deliveries: DeliveriesCalls
  /** Imports that wrote records, from the console and from the command line. */
  readonly imports: ImportsCalls
  /** A file on its way into the records: sent in parts, checked, then imported. Kept for a day. */
  readonly importRuns: ImportRunsCalls
  /** Files to fill in, one for each resource. */
  readonly importTemplates: ImportTemplatesCalls
  /** What was done to one record, for members who may read it. */
  readonly history: HistoryCalls
  /** What was done in the tenant, and by whom. */
  readonly auditEntries: AuditEntriesCalls

  constructor(caller: Caller) {
    this.me = new MeCalls(caller)
    this.tenant = new TenantCalls(caller)
    this.overview = new OverviewCalls(caller)
    this.tokens = new TokensCalls(caller)
    this.consents = new ConsentsCalls(caller)
    this.members = new MembersCalls(caller)
    this.invitations = new InvitationsCalls(caller)
    this.serviceTokens = new ServiceTokensCalls(caller)
    this.applications = new ApplicationsCalls(caller)
    this.legacySystem = new LegacySystemCalls(caller)
    this.webhookEndpoints = new WebhookEndpointsCalls(caller)
    this.deliveries = new DeliveriesCalls(caller)
    this.imports = new ImportsCalls(caller)
    this.importRuns = new ImportRunsCalls(caller)
    this.importTemplates = new ImportTemplatesCalls(caller)
    this.history = new HistoryCalls(caller)
    this.auditEntries = new AuditEntriesCalls(caller)
  }
}
