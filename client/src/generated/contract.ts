/** GENERATED from the contract by `npm run generate`. */

export const basePath = '/customer-api/v1'

/** Applications ask for scopes by this prefix. */
export const scopePrefix = 'service-api/'

/** RFC 8288: the link from the end of a walk to what has changed since its first page. */
export const changesRelation = 'https://masthead.dev/rel/changes'

/** What a token may do. */
export type Scope =
  /** See subscriptions */
  | 'subscriptions:read'
  /** See publications */
  | 'publications:read'
  /** See invoices */
  | 'invoices:read'
  /** See contacts */
  | 'contacts:read'
  /** Create, change, delete and restore contacts */
  | 'contacts:write'
  /** See accounts */
  | 'accounts:read'
  /** Create and correct accounts */
  | 'accounts:write'
  /** See tasks */
  | 'tasks:read'
  /** Create tasks for accounts, change them and mark them as done */
  | 'tasks:write'

/** Why the service said no; stable. */
export type ProblemCode =
  /** 400: The request cannot be read. Check the request line and the percent-encoding of the URL. */
  | 'malformed_request'
  /** 400: The body is not JSON. Send a JSON object encoded as UTF-8; the detail says where reading stopped. */
  | 'malformed_body'
  /** 400: A query parameter is not accepted. Correct or remove the parameters named in `errors`. */
  | 'invalid_parameter'
  /** 400: The cursor is not valid here. Follow the `next` link as it was sent, with the same filters, or start again without a cursor. */
  | 'invalid_cursor'
  /** 400: A request header is not accepted. Correct or remove the header named in `errors`. */
  | 'invalid_header'
  /** 401: No access token was sent. Send the header `Authorization: Bearer <ACCESS_TOKEN>`. */
  | 'missing_token'
  /** 401: The access token is not valid. Use a token that has neither expired nor been revoked, and send all of it. */
  | 'invalid_token'
  /** 403: The access token lacks a scope. Use a token that carries the scope named in the detail. */
  | 'insufficient_scope'
  /** 403: The role of the user does not allow this. Ask an administrator of the tenant for a role that includes the scope named in the detail. */
  | 'insufficient_role'
  /** 404: There is no such thing here. Check the path and the identifier; records of other tenants are not visible. */
  | 'not_found'
  /** 405: This path does not support the method. Use one of the methods in the `Allow` header. */
  | 'method_not_allowed'
  /** 409: The contact is deleted. Restore the contact first, or send `"deletedAt": null` with the update. */
  | 'contact_deleted'
  /** 409: The same request is still running. Try again after the seconds given in `Retry-After`: it answers what the first one did. */
  | 'request_in_progress'
  /** 409: This cannot be done as things stand. The detail says what stands in the way. */
  | 'conflict'
  /** 409: The secret was shown already. What was made is there, but its secret is kept nowhere: revoke it, and make another. */
  | 'secret_shown_once'
  /** 412: The record has changed. Get the record again, decide whether your change still applies, and send its new `ETag` in `If-Match`. */
  | 'precondition_failed'
  /** 413: The body is too large. Send at most 256 KiB. */
  | 'body_too_large'
  /** 414: The URL is too long. Send at most 8 KiB of URL. */
  | 'url_too_long'
  /** 415: The content type is not supported. Send `Content-Type: application/json`. */
  | 'unsupported_media_type'
  /** 422: The body is not accepted. Correct the properties named in `errors`; nothing was changed. */
  | 'invalid_body'
  /** 422: The idempotency key was used for another request. Make a new `Idempotency-Key` for every request that is not a retry; nothing was changed. */
  | 'idempotency_key_reused'
  /** 429: Too many requests. Wait for the seconds given in `Retry-After`; `RateLimit` tells how many are left. Renew or remove tokens that are not known any longer. */
  | 'too_many_requests'
  /** 431: The headers are too large. Send fewer or shorter headers. */
  | 'headers_too_large'
  /** 500: The service failed. Try again later. If it stays, tell the operator the `requestId`: it finds the cause in the log. */
  | 'internal_error'
  /** 503: The service is not available right now. Try again after the seconds given in `Retry-After`. */
  | 'unavailable'

/** The titles a publisher sells. */
export interface Publication {
  /** Identifier of the publication. A UUID. */
  id: string
  /** Business identifier of the publication. */
  code: string
  /** Name of the publication. */
  name: string | null
  /** The publication appears. */
  isActive: boolean | null
  /** How often it appears. */
  frequency: string | null
  /** How issues are counted. */
  issFrequency: string | null
  /** Decimals of an issue number. */
  issueDecimals: number | null
  /** When the publication was created. RFC 3339, UTC. */
  createdAt: string
  /** When the publication last changed. RFC 3339, UTC. */
  updatedAt: string
}

/** Given to `publications.list`. */
export interface PublicationQuery {
  /** The page to show; the first is 1. At most 2147483647. */
  page?: number | undefined
  /** How many records a page holds. At most 200. */
  pageSize?: number | undefined
  /** Words, separated by spaces, that must all occur in one of code, name. Case and accents do not matter, nor whether ü is written ue or u, and the like. At most 200 characters. */
  search?: string | undefined
  /** Only publications that appear (true), or that no longer do (false). */
  isActive?: boolean | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
  /** A field to order by, with `-` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first 10,000 records. */
  sort?: 'code' | '-code' | 'name' | '-name' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | undefined
  /** From the `next` link: continues a walk exactly where the page before ended. Not with `page`. */
  cursor?: string | undefined
}

/** Customer companies. */
export interface Account {
  /** Identifier of the account. A UUID. */
  id: string
  /** Business identifier of the account. */
  accountId: string
  /** Name of the company. */
  company: string | null
  /** Street and number. */
  address: string | null
  /** Suite, floor or door. */
  suite: string | null
  /** City. */
  city: string | null
  /** State or province. */
  state: string | null
  /** Postal code. */
  zip: string | null
  /** Country. */
  country: string | null
  /** Address of the web site. */
  webAddress: string | null
  /** Open set; known: prospect, active, on_hold, inactive. */
  status: string | null
  /** Where invoices are mailed to. */
  billingEmail: string | null
  /** Invoices are sent by e-mail. */
  invoiceEmailEnabled: boolean | null
  /** Invoices are sent on paper. */
  invoicePrintEnabled: boolean | null
  /** The account does not want to receive e-mail. */
  doNotEmail: boolean | null
  /** When the account was created. RFC 3339, UTC. */
  createdAt: string
  /** When the account last changed. RFC 3339, UTC. */
  updatedAt: string
}

/** Given to `accounts.list`. */
export interface AccountQuery {
  /** The page to show; the first is 1. At most 2147483647. */
  page?: number | undefined
  /** How many records a page holds. At most 200. */
  pageSize?: number | undefined
  /** Words, separated by spaces, that must all occur in one of accountId, company, city, billingEmail, webAddress. Case and accents do not matter, nor whether ü is written ue or u, and the like. At most 200 characters. */
  search?: string | undefined
  /** Only accounts with this status; case does not matter. */
  status?: string | undefined
  /** Only accounts in this city; case and accents do not matter. At most 200 characters. */
  city?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
  /** A field to order by, with `-` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first 10,000 records. */
  sort?:
    | 'accountId'
    | '-accountId'
    | 'company'
    | '-company'
    | 'city'
    | '-city'
    | 'createdAt'
    | '-createdAt'
    | 'updatedAt'
    | '-updatedAt'
    | undefined
  /** From the `next` link: continues a walk exactly where the page before ended. Not with `page`. */
  cursor?: string | undefined
}

/** Given to `accounts.create`. */
export interface AccountInput {
  /** Name of the company. At most 255 characters. */
  company: string
  /** User of the legacy system, for its account-creation workflow. At most 100 characters. */
  userId?: string | null | undefined
  /** First name of the first contact. At most 255 characters. */
  firstName?: string | null | undefined
  /** Last name of the first contact. At most 255 characters. */
  lastName?: string | null | undefined
  /** Position of the first contact. At most 255 characters. */
  title?: string | null | undefined
  /** Phone number of the first contact. At most 50 characters. */
  phone?: string | null | undefined
  /** E-mail address of the first contact, and for invoices. At most 254 characters. */
  email?: string | null | undefined
  /** Street and number. At most 500 characters. */
  address?: string | null | undefined
  /** City. At most 100 characters. */
  city?: string | null | undefined
  /** State or province. At most 100 characters. */
  state?: string | null | undefined
  /** Postal code. At most 20 characters. */
  zip?: string | null | undefined
  /** Category of the account. At most 100 characters. */
  category?: string | null | undefined
  /** Quality of the prospect. At most 100 characters. */
  quality?: string | null | undefined
  /** Address of the web site. At most 2048 characters. */
  website?: string | null | undefined
  /** The publication of most interest, by its code or `id`. */
  primaryPublicationId?: string | null | undefined
}

/** Given to `accounts.update`. */
export interface AccountChanges {
  /** Name of the company. At most 255 characters. */
  company?: string | undefined
  /** Street and number. At most 500 characters. */
  address?: string | null | undefined
  /** Suite, floor or door. At most 100 characters. */
  suite?: string | null | undefined
  /** City. At most 100 characters. */
  city?: string | null | undefined
  /** State or province. At most 100 characters. */
  state?: string | null | undefined
  /** Postal code. At most 20 characters. */
  zip?: string | null | undefined
  /** Country. At most 100 characters. */
  country?: string | null | undefined
  /** Address of the web site. At most 2048 characters. */
  webAddress?: string | null | undefined
  /** Open set; known: prospect, active, on_hold, inactive. At most 100 characters. */
  status?: string | null | undefined
  /** Where invoices are mailed to. At most 254 characters. */
  billingEmail?: string | null | undefined
  /** Invoices are sent by e-mail. */
  invoiceEmailEnabled?: boolean | null | undefined
  /** Invoices are sent on paper. */
  invoicePrintEnabled?: boolean | null | undefined
  /** The account does not want to receive e-mail. */
  doNotEmail?: boolean | null | undefined
}

/** Answered by `accounts.create`. */
export interface AccountCreated {
  /** Business identifier of the new account. */
  accountId: string
  /** Name of the company. */
  company: string
  /** The processing route. `native`: Masthead is the system of record. `legacy`: the record is also handed to the legacy system. */
  route: 'native' | 'legacy'
}

/** People at an account. */
export interface Contact {
  /** Identifier of the contact. A UUID. */
  id: string
  /** Business identifier of the account the contact belongs to. */
  accountId: string
  /** The user who owns the contact. */
  ownerId: string | null
  /** Full name. */
  name: string | null
  /** First name. */
  firstName: string | null
  /** Last name. */
  lastName: string | null
  /** Phone number, as it was entered. */
  phone: string | null
  /** Second phone number, as it was entered. */
  phone2: string | null
  /** Extension of the phone number. */
  extension: string | null
  /** Hidden: lists leave it out unless `includeHidden` is true. */
  hideContact: boolean | null
  /** For subscriptions only: lists leave it out unless `includeSubsOnly` is true. */
  subsOnly: boolean | null
  /** The contact does not want to receive e-mail. */
  doNotEmail: boolean | null
  /** E-mail address, as it was entered. */
  email: string | null
  /** Position or form of address. */
  title: string | null
  /** Free text. */
  notes: string | null
  /** When the contact was deleted; null while it is not. RFC 3339, UTC. */
  deletedAt: string | null
  /** When the contact was created. RFC 3339, UTC. */
  createdAt: string | null
  /** When the contact last changed. RFC 3339, UTC. */
  updatedAt: string | null
}

/** Given to `contacts.list`. */
export interface ContactQuery {
  /** The page to show; the first is 1. At most 2147483647. */
  page?: number | undefined
  /** How many records a page holds. At most 200. */
  pageSize?: number | undefined
  /** Only contacts of this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Words, separated by spaces, that must all occur in one of name, firstName, lastName, email, phone, phone2, title. Case and accents do not matter, nor whether ü is written ue or u, and the like. At most 200 characters. */
  search?: string | undefined
  /** Also contacts with `hideContact`. */
  includeHidden?: boolean | undefined
  /** Also contacts with `subsOnly`. */
  includeSubsOnly?: boolean | undefined
  /** Also deleted contacts. */
  includeDeleted?: boolean | undefined
  /** Only contacts with this e-mail address; case does not matter. At most 200 characters. */
  email?: string | undefined
  /** Only the contact with this identifier in another system. At most 200 characters. */
  externalId?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
  /** A field to order by, with `-` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first 10,000 records. */
  sort?:
    | 'name'
    | '-name'
    | 'firstName'
    | '-firstName'
    | 'lastName'
    | '-lastName'
    | 'email'
    | '-email'
    | 'createdAt'
    | '-createdAt'
    | 'updatedAt'
    | '-updatedAt'
    | 'deletedAt'
    | '-deletedAt'
    | undefined
  /** From the `next` link: continues a walk exactly where the page before ended. Not with `page`. */
  cursor?: string | undefined
}

/** Given to `contacts.create` and `contacts.update`. */
export interface ContactInput {
  /** The account, by its business identifier or its `id`. */
  accountId: string
  /** Full name. Absent on creation, it is joined from first and last name, and follows them. At most 255 characters. */
  name?: string | null | undefined
  /** First name. At most 255 characters. */
  firstName?: string | null | undefined
  /** Last name. At most 255 characters. */
  lastName?: string | null | undefined
  /** Phone number. At most 50 characters. */
  phone?: string | null | undefined
  /** Second phone number. At most 50 characters. */
  phone2?: string | null | undefined
  /** Extension of the phone number. At most 20 characters. */
  extension?: string | null | undefined
  /** Hide the contact from lists. */
  hideContact?: boolean | null | undefined
  /** For subscriptions only. */
  subsOnly?: boolean | null | undefined
  /** The contact does not want to receive e-mail. */
  doNotEmail?: boolean | null | undefined
  /** E-mail address. At most 254 characters. */
  email?: string | null | undefined
  /** Position or form of address. At most 255 characters. */
  title?: string | null | undefined
  /** Free text. At most 10000 characters. */
  notes?: string | null | undefined
  /** An instant that is not in the future deletes the contact, null restores it. RFC 3339, UTC. */
  deletedAt?: string | null | undefined
}

/** What an account subscribes to. */
export interface Subscription {
  /** Identifier of the subscription. A UUID. */
  id: string
  /** Business identifier of the subscription. */
  subscriptionId: string | null
  /** Business identifier of the account that subscribes. */
  accountId: string
  /** The publication (`id`). A UUID. */
  publicationId: string
  /** The subscription (`id`) that this one renewed. A UUID. */
  renewedFromSubsId: string | null
  /** When it was or will be renewed. As `YYYY-MM-DD`. */
  renewalDate: string | null
  /** Open set; known: pending, active, grace, suspended, expired, cancelled. */
  status: string | null
  /** First day. As `YYYY-MM-DD`. */
  startDate: string | null
  /** Last day. As `YYYY-MM-DD`. */
  endDate: string | null
  /** Day on which it expires. As `YYYY-MM-DD`. */
  expireDate: string | null
  /** Day of the first issue. As `YYYY-MM-DD`. */
  firstRunDate: string | null
  /** Number printed on the label. */
  subscriptionNumber: string | null
  /** Copies of each issue. An integer. */
  copies: string | null
  /** Missed issues are delivered later. */
  autoReschedule: boolean | null
  /** Invoices are made automatically. */
  autoInvoice: boolean | null
  /** Free text. */
  notes: string | null
  /** Net charge. A decimal with two digits. */
  totalNetCharge: string | null
  /** Payments applied. A decimal with two digits. */
  totalApplied: string | null
  /** Amount still due. A decimal with two digits. */
  totalDue: string | null
  /** When the subscription was created. RFC 3339, UTC. */
  createdAt: string
  /** When the subscription last changed. RFC 3339, UTC. */
  updatedAt: string
  /** When the subscription was deleted; null while it is not. RFC 3339, UTC. */
  deletedAt: string | null
}

/** Given to `subscriptions.list`. */
export interface SubscriptionQuery {
  /** The page to show; the first is 1. At most 2147483647. */
  page?: number | undefined
  /** How many records a page holds. At most 200. */
  pageSize?: number | undefined
  /** Only subscriptions of this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Only subscriptions to this publication (`id` or code). */
  publicationId?: string | undefined
  /** Only subscriptions with this status; case does not matter. */
  status?: string | undefined
  /** Also deleted subscriptions. */
  includeDeleted?: boolean | undefined
  /** Only subscriptions with this number on their label. At most 200 characters. */
  subscriptionNumber?: string | undefined
  /** Only subscriptions that expire on this day or later. As `YYYY-MM-DD`. */
  expireDateFrom?: string | undefined
  /** Only subscriptions that expire on this day or earlier. As `YYYY-MM-DD`. */
  expireDateTo?: string | undefined
  /** Only subscriptions that start on this day or later. As `YYYY-MM-DD`. */
  startDateFrom?: string | undefined
  /** Only subscriptions that start on this day or earlier. As `YYYY-MM-DD`. */
  startDateTo?: string | undefined
  /** Only subscriptions that were or will be renewed on this day or later. As `YYYY-MM-DD`. */
  renewalDateFrom?: string | undefined
  /** Only subscriptions that were or will be renewed on this day or earlier. As `YYYY-MM-DD`. */
  renewalDateTo?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
  /** A field to order by, with `-` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first 10,000 records. */
  sort?:
    | 'subscriptionNumber'
    | '-subscriptionNumber'
    | 'copies'
    | '-copies'
    | 'startDate'
    | '-startDate'
    | 'endDate'
    | '-endDate'
    | 'expireDate'
    | '-expireDate'
    | 'firstRunDate'
    | '-firstRunDate'
    | 'renewalDate'
    | '-renewalDate'
    | 'totalNetCharge'
    | '-totalNetCharge'
    | 'totalApplied'
    | '-totalApplied'
    | 'totalDue'
    | '-totalDue'
    | 'createdAt'
    | '-createdAt'
    | 'updatedAt'
    | '-updatedAt'
    | 'deletedAt'
    | '-deletedAt'
    | undefined
  /** From the `next` link: continues a walk exactly where the page before ended. Not with `page`. */
  cursor?: string | undefined
}

/** What an account owes and has paid. */
export interface Invoice {
  /** Identifier of the invoice. A UUID. */
  id: string
  /** Business identifier of the account that is billed. */
  accountId: string
  /** The publication (`id`), when the invoice is for one. A UUID. */
  publicationId: string | null
  /** The issue, when the invoice is for one. */
  issueId: string | null
  /** Open set; known: draft, open, past_due, paid, void, uncollectible. */
  status: string
  /** Day of the invoice. As `YYYY-MM-DD`. */
  issueDate: string | null
  /** Day on which it is due. As `YYYY-MM-DD`. */
  dueDate: string | null
  /** Terms of payment. */
  terms: string | null
  /** Total, tax included. A decimal with two digits. */
  total: string | null
  /** Amount still due. A decimal with two digits. */
  totalDue: string | null
  /** Amount still due, in cents; 0 when unknown. */
  balanceCents: number
  /** Before discount and tax. A decimal with two digits. */
  gross: string | null
  /** After discount, before tax. A decimal with two digits. */
  net: string | null
  /** Kind of invoice. */
  invoiceType: string | null
  /** What it is for. */
  invoiceDescription: string | null
  /** Charges. A decimal with two digits. */
  invCharges: string | null
  /** Amount invoiced. A decimal with two digits. */
  invInvoiced: string | null
  /** Payments applied. A decimal with two digits. */
  invApplied: string | null
  /** Discount. A decimal with two digits. */
  invDiscount: string | null
  /** Tax. A decimal with two digits. */
  invTax: string | null
  /** Day on which it was paid. As `YYYY-MM-DD`. */
  datePaid: string | null
  /** 1 while money is expected, 0 when not, null when unknown. */
  isOpen: number | null
  /** Free text. */
  notes: string | null
  /** When the invoice was created. RFC 3339, UTC. */
  createdAt: string
  /** When the invoice last changed. RFC 3339, UTC. */
  updatedAt: string
}

/** Given to `invoices.list`. */
export interface InvoiceQuery {
  /** The page to show; the first is 1. At most 2147483647. */
  page?: number | undefined
  /** How many records a page holds. At most 200. */
  pageSize?: number | undefined
  /** Only invoices of this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Only invoices for this publication (`id` or code). */
  publicationId?: string | undefined
  /** Only invoices with this status; case does not matter. */
  status?: string | undefined
  /** Only invoices that are due on this day or later. As `YYYY-MM-DD`. */
  dueDateFrom?: string | undefined
  /** Only invoices that are due on this day or earlier. As `YYYY-MM-DD`. */
  dueDateTo?: string | undefined
  /** Only invoices issued on this day or later. As `YYYY-MM-DD`. */
  issueDateFrom?: string | undefined
  /** Only invoices issued on this day or earlier. As `YYYY-MM-DD`. */
  issueDateTo?: string | undefined
  /** Only the invoice with this identifier in another system. At most 200 characters. */
  externalId?: string | undefined
  /** Only invoices for which money is expected (true), or is not (false). */
  isOpen?: boolean | undefined
  /** Only invoices for which money is expected and that were due before today in the time zone of the tenant (true), or all others (false). */
  overdue?: boolean | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
  /** A field to order by, with `-` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first 10,000 records. */
  sort?:
    | 'issueDate'
    | '-issueDate'
    | 'dueDate'
    | '-dueDate'
    | 'datePaid'
    | '-datePaid'
    | 'total'
    | '-total'
    | 'totalDue'
    | '-totalDue'
    | 'gross'
    | '-gross'
    | 'net'
    | '-net'
    | 'invCharges'
    | '-invCharges'
    | 'invInvoiced'
    | '-invInvoiced'
    | 'invApplied'
    | '-invApplied'
    | 'invDiscount'
    | '-invDiscount'
    | 'invTax'
    | '-invTax'
    | 'createdAt'
    | '-createdAt'
    | 'updatedAt'
    | '-updatedAt'
    | undefined
  /** From the `next` link: continues a walk exactly where the page before ended. Not with `page`. */
  cursor?: string | undefined
}

/** Things to do for an account. */
export interface TaskRecord {
  /** Identifier of the task. A UUID. */
  id: string
  /** Business identifier of the account. */
  accountId: string
  /** What is to be done. */
  title: string
  /** Day by which it is to be done. As `YYYY-MM-DD`. */
  dueDate: string
  /** User of the legacy system who is to do it; empty when nobody is known. */
  userId: string
  /** Priority. */
  priority: string | null
  /** Kind of task. */
  type: string | null
  /** Free text. */
  notes: string | null
  /** When the task was done; null while it is open. RFC 3339, UTC. */
  doneAt: string | null
  /** The processing route. `native`: Masthead is the system of record. `legacy`: the record is also handed to the legacy system. */
  route: 'native' | 'legacy'
  /** When the task was created. RFC 3339, UTC. */
  createdAt: string
  /** When the task last changed. RFC 3339, UTC. */
  updatedAt: string
}

/** Given to `tasks.list`. */
export interface TaskQuery {
  /** The page to show; the first is 1. At most 2147483647. */
  page?: number | undefined
  /** How many records a page holds. At most 200. */
  pageSize?: number | undefined
  /** Only tasks for this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Only tasks of this user of the legacy system; empty for those of nobody. */
  userId?: string | undefined
  /** `true`: only tasks that are not done. `false`: only those that are. */
  open?: boolean | undefined
  /** Only tasks that are due on this day or later. As `YYYY-MM-DD`. */
  dueFrom?: string | undefined
  /** Only tasks that are due on this day or earlier. As `YYYY-MM-DD`. */
  dueTo?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
  /** A field to order by, with `-` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first 10,000 records. */
  sort?:
    | 'dueDate'
    | '-dueDate'
    | 'doneAt'
    | '-doneAt'
    | 'createdAt'
    | '-createdAt'
    | 'updatedAt'
    | '-updatedAt'
    | undefined
  /** From the `next` link: continues a walk exactly where the page before ended. Not with `page`. */
  cursor?: string | undefined
}

/** Given to `tasks.create`. */
export interface TaskInput {
  /** The account, by its business identifier or its `id`. */
  accountId: string
  /** What is to be done. At most 255 characters. */
  title: string
  /** Day by which it is to be done. As `YYYY-MM-DD`. */
  dueDate: string
  /** User of the legacy system who is to do it. At most 100 characters. */
  userId?: string | null | undefined
  /** Priority. At most 100 characters. */
  priority?: string | null | undefined
  /** Kind of task. At most 100 characters. */
  type?: string | null | undefined
}

/** Given to `tasks.update`. */
export interface TaskChanges {
  /** The account, by its business identifier or its `id`. */
  accountId?: string | undefined
  /** What is to be done. At most 255 characters. */
  title?: string | undefined
  /** Day by which it is to be done. As `YYYY-MM-DD`. */
  dueDate?: string | undefined
  /** User of the legacy system who is to do it; null when nobody is to. At most 100 characters. */
  userId?: string | null | undefined
  /** Priority. At most 100 characters. */
  priority?: string | null | undefined
  /** Kind of task. At most 100 characters. */
  type?: string | null | undefined
  /** Free text. At most 10000 characters. */
  notes?: string | null | undefined
  /** An instant marks the task as done, null opens it again. At most an hour ahead, since clocks differ. RFC 3339, UTC. */
  doneAt?: string | null | undefined
}

/** Answered by `tasks.create`. */
export interface Task {
  /** Identifier of the task. A UUID. */
  id: string
  /** Business identifier of the account. */
  accountId: string
  /** What is to be done. */
  title: string
  /** Day by which it is to be done. As `YYYY-MM-DD`. */
  dueDate: string
  /** User of the legacy system who is to do it; empty when nobody is known. */
  userId: string
  /** The processing route. `native`: Masthead is the system of record. `legacy`: the record is also handed to the legacy system. */
  route: 'native' | 'legacy'
}

/** Files of the records of one moment, made in the background and kept for a day. */
export interface Export {
  /** Identifier of the export. A UUID. */
  id: string
  /** `waiting`, `running`: ask again in a second. `done`: the files can be downloaded. `failed`: `problem` says why. `deleted`: somebody has cancelled or deleted it. */
  state: 'waiting' | 'running' | 'done' | 'failed' | 'deleted'
  /** What it holds, a file for each. */
  resources: ListedName[]
  /** Which records of each list; without filters, what the list shows. */
  filters: ExportFilters
  /** The format of the files. */
  format: 'csv' | 'ndjson'
  /** The files are compressed. */
  gzip: boolean
  /** Spreadsheets do not treat texts of the files as formulas. */
  spreadsheet: boolean
  /** How many records are written so far. */
  records: number
  /** How many it will be; null while nobody knows, as with most filters. */
  expected: number | null
  /** The moment of which all files are; null before it was begun. RFC 3339, UTC. */
  asOf: string | null
  /** The files; none until it is done. */
  files: ExportFile[]
  /** Why it failed, and what to do. */
  problem: string | null
  /** When it was asked for. RFC 3339, UTC. */
  createdAt: string
  /** When it will be gone, with its files. RFC 3339, UTC. */
  expiresAt: string
}

/** Given to `exports.create`. */
export interface ExportInput {
  /** What to export, a file for each. The token needs the scope to read every one of them. */
  resources: ListedName[]
  /** Which records of each list; without filters, what the list shows. */
  filters?: ExportFilters | undefined
  /** The format of the files. */
  format?: 'csv' | 'ndjson' | undefined
  /** Compress the files. */
  gzip?: boolean | undefined
  /** For CSV: keep spreadsheets from treating texts as formulas. */
  spreadsheet?: boolean | undefined
}

/** Answered by `exports.list`. */
export interface ExportList {
  /** Up to a hundred: first those that have files or will have, then the others; the newest first. */
  items: Export[]
}

/** Which records of each list; without filters, what the list shows. */
export interface ExportFilters {
  /** As the list of publications takes them, without `search`. */
  publications?: PublicationFilters | undefined
  /** As the list of accounts takes them, without `search`. */
  accounts?: AccountFilters | undefined
  /** As the list of contacts takes them, without `search`. */
  contacts?: ContactFilters | undefined
  /** As the list of subscriptions takes them, without `search`. */
  subscriptions?: SubscriptionFilters | undefined
  /** As the list of invoices takes them, without `search`. */
  invoices?: InvoiceFilters | undefined
  /** As the list of tasks takes them, without `search`. */
  tasks?: TaskRecordFilters | undefined
}

/** As the list of publications takes them, without `search`. */
export interface PublicationFilters {
  /** Only publications that appear (true), or that no longer do (false). */
  isActive?: boolean | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
}

/** As the list of accounts takes them, without `search`. */
export interface AccountFilters {
  /** Only accounts with this status; case does not matter. */
  status?: string | undefined
  /** Only accounts in this city; case and accents do not matter. At most 200 characters. */
  city?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
}

/** As the list of contacts takes them, without `search`. */
export interface ContactFilters {
  /** Only contacts of this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Also contacts with `hideContact`. */
  includeHidden?: boolean | undefined
  /** Also contacts with `subsOnly`. */
  includeSubsOnly?: boolean | undefined
  /** Also deleted contacts. */
  includeDeleted?: boolean | undefined
  /** Only contacts with this e-mail address; case does not matter. At most 200 characters. */
  email?: string | undefined
  /** Only the contact with this identifier in another system. At most 200 characters. */
  externalId?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
}

/** As the list of subscriptions takes them, without `search`. */
export interface SubscriptionFilters {
  /** Only subscriptions of this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Only subscriptions to this publication (`id` or code). */
  publicationId?: string | undefined
  /** Only subscriptions with this status; case does not matter. */
  status?: string | undefined
  /** Also deleted subscriptions. */
  includeDeleted?: boolean | undefined
  /** Only subscriptions with this number on their label. At most 200 characters. */
  subscriptionNumber?: string | undefined
  /** Only subscriptions that expire on this day or later. As `YYYY-MM-DD`. */
  expireDateFrom?: string | undefined
  /** Only subscriptions that expire on this day or earlier. As `YYYY-MM-DD`. */
  expireDateTo?: string | undefined
  /** Only subscriptions that start on this day or later. As `YYYY-MM-DD`. */
  startDateFrom?: string | undefined
  /** Only subscriptions that start on this day or earlier. As `YYYY-MM-DD`. */
  startDateTo?: string | undefined
  /** Only subscriptions that were or will be renewed on this day or later. As `YYYY-MM-DD`. */
  renewalDateFrom?: string | undefined
  /** Only subscriptions that were or will be renewed on this day or earlier. As `YYYY-MM-DD`. */
  renewalDateTo?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
}

/** As the list of invoices takes them, without `search`. */
export interface InvoiceFilters {
  /** Only invoices of this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Only invoices for this publication (`id` or code). */
  publicationId?: string | undefined
  /** Only invoices with this status; case does not matter. */
  status?: string | undefined
  /** Only invoices that are due on this day or later. As `YYYY-MM-DD`. */
  dueDateFrom?: string | undefined
  /** Only invoices that are due on this day or earlier. As `YYYY-MM-DD`. */
  dueDateTo?: string | undefined
  /** Only invoices issued on this day or later. As `YYYY-MM-DD`. */
  issueDateFrom?: string | undefined
  /** Only invoices issued on this day or earlier. As `YYYY-MM-DD`. */
  issueDateTo?: string | undefined
  /** Only the invoice with this identifier in another system. At most 200 characters. */
  externalId?: string | undefined
  /** Only invoices for which money is expected (true), or is not (false). */
  isOpen?: boolean | undefined
  /** Only invoices for which money is expected and that were due before today in the time zone of the tenant (true), or all others (false). */
  overdue?: boolean | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
}

/** As the list of tasks takes them, without `search`. */
export interface TaskRecordFilters {
  /** Only tasks for this account (business identifier or `id`). */
  accountId?: string | undefined
  /** Only tasks of this user of the legacy system; empty for those of nobody. */
  userId?: string | undefined
  /** `true`: only tasks that are not done. `false`: only those that are. */
  open?: boolean | undefined
  /** Only tasks that are due on this day or later. As `YYYY-MM-DD`. */
  dueFrom?: string | undefined
  /** Only tasks that are due on this day or earlier. As `YYYY-MM-DD`. */
  dueTo?: string | undefined
  /** Only records that last changed at this instant or later. RFC 3339, UTC. */
  changedFrom?: string | undefined
  /** Only records that last changed before this instant. RFC 3339, UTC. */
  changedTo?: string | undefined
  /** Only these records: up to 200 identifiers of either kind, separated by commas. */
  ids?: string | undefined
}

/** A file of an export. */
export interface ExportFile {
  /** Its name, the last part of its address. */
  name: string
  /** What it holds. */
  resource: ListedName
  /** How many records it holds. */
  records: number
  /** Its size. */
  bytes: number
  /** SHA-256 of its bytes, in hexadecimal digits. */
  sha256: string
}

/** The records of every list that can be followed. */
export interface ListedRecords {
  publications: Publication
  accounts: Account
  contacts: Contact
  subscriptions: Subscription
  invoices: Invoice
  tasks: TaskRecord
}
export type ListedName = keyof ListedRecords

/** What was written and removed, in order: for whoever keeps a copy. */
export type Change<Name extends ListedName = ListedName> = { [N in Name]: Written<N> | Removed<N> }[Name]

export interface Written<Name extends ListedName> {
  /** The list that the record is in. */
  resource: Name
  /** Identifier of the record. A UUID. */
  id: string
  /** Identifier of the record in another system, as an import stored it; null where there is none, and of a record that was removed. */
  externalId: string | null
  /** `written`: the record was created or changed. `removed`: it is gone for good. */
  change: 'written'
  /** The record as it is now, also a hidden or deleted one; null when it was removed. */
  record: ListedRecords[Name]
}

export interface Removed<Name extends ListedName> {
  /** The list that the record is in. */
  resource: Name
  /** Identifier of the record. A UUID. */
  id: string
  /** Identifier of the record in another system, as an import stored it; null where there is none, and of a record that was removed. */
  externalId: null
  /** `written`: the record was created or changed. `removed`: it is gone for good. */
  change: 'removed'
  /** The record as it is now, also a hidden or deleted one; null when it was removed. */
  record: null
}

export type ResourceName = 'publications' | 'accounts' | 'contacts' | 'subscriptions' | 'invoices' | 'tasks'

/** The `data` of a webhook. */
export interface ContactEventData {
  /** User of the legacy system who acted; null where none is known. */
  userId: string | null
  /** Identifier of the contact. A UUID. */
  id: string
  /** Business identifier of the account the contact belongs to. */
  accountId: string
  /** The user who owns the contact. */
  ownerId: string | null
  /** Full name. */
  name: string | null
  /** First name. */
  firstName: string | null
  /** Last name. */
  lastName: string | null
  /** Phone number, as it was entered. */
  phone: string | null
  /** Second phone number, as it was entered. */
  phone2: string | null
  /** Extension of the phone number. */
  extension: string | null
  /** Hidden: lists leave it out unless `includeHidden` is true. */
  hideContact: boolean | null
  /** For subscriptions only: lists leave it out unless `includeSubsOnly` is true. */
  subsOnly: boolean | null
  /** The contact does not want to receive e-mail. */
  doNotEmail: boolean | null
  /** E-mail address, as it was entered. */
  email: string | null
  /** Position or form of address. */
  title: string | null
  /** Free text. */
  notes: string | null
  /** When the contact was deleted; null while it is not. RFC 3339, UTC. */
  deletedAt: string | null
  /** When the contact was created. RFC 3339, UTC. */
  createdAt: string | null
  /** When the contact last changed. RFC 3339, UTC. */
  updatedAt: string | null
}

/** The `data` of a webhook. */
export interface AccountEventData {
  /** User of the legacy system who acted; null where none is known. */
  userId: string | null
  /** Identifier of the account. A UUID. */
  id: string
  /** Business identifier of the account. */
  accountId: string
  /** Name of the company. */
  company: string | null
  /** Street and number. */
  address: string | null
  /** Suite, floor or door. */
  suite: string | null
  /** City. */
  city: string | null
  /** State or province. */
  state: string | null
  /** Postal code. */
  zip: string | null
  /** Country. */
  country: string | null
  /** Address of the web site. */
  webAddress: string | null
  /** Open set; known: prospect, active, on_hold, inactive. */
  status: string | null
  /** Where invoices are mailed to. */
  billingEmail: string | null
  /** Invoices are sent by e-mail. */
  invoiceEmailEnabled: boolean | null
  /** Invoices are sent on paper. */
  invoicePrintEnabled: boolean | null
  /** The account does not want to receive e-mail. */
  doNotEmail: boolean | null
  /** When the account was created. RFC 3339, UTC. */
  createdAt: string
  /** When the account last changed. RFC 3339, UTC. */
  updatedAt: string
}

/** The `data` of a webhook. */
export interface TaskEventData {
  /** User of the legacy system who is to do it; empty when nobody is known. */
  userId: string
  /** Identifier of the task. A UUID. */
  id: string
  /** Business identifier of the account. */
  accountId: string
  /** What is to be done. */
  title: string
  /** Day by which it is to be done. As `YYYY-MM-DD`. */
  dueDate: string
  /** Priority. */
  priority: string | null
  /** Kind of task. */
  type: string | null
  /** Free text. */
  notes: string | null
  /** When the task was done; null while it is open. RFC 3339, UTC. */
  doneAt: string | null
  /** The processing route. `native`: Masthead is the system of record. `legacy`: the record is also handed to the legacy system. */
  route: 'native' | 'legacy'
  /** When the task was created. RFC 3339, UTC. */
  createdAt: string
  /** When the task last changed. RFC 3339, UTC. */
  updatedAt: string
}

/** The `data` of a webhook. */
export interface ImportCompletedData {
  /** Identifier of the import. A UUID. */
  importId: string
  /** How many records, by resource. */
  counts: Partial<Record<ResourceName, { created: number; changed: number }>>
  /** Give it as `after` to `GET /changes`: what was written since before the import follows. */
  cursor: string
}

/** The `data` of a webhook. */
export interface ImportUndoneData {
  /** Identifier of the import. A UUID. */
  importId: string
  /** How many records, by resource. */
  counts: Partial<Record<ResourceName, { removed: number; restored: number }>>
  /** Give it as `after` to `GET /changes`: what was written since before the import follows. */
  cursor: string
}

/** The `data` of a webhook. */
export interface WebhookTestData {
  /** Identifier of the endpoint. A UUID. */
  endpointId: string
}

/** The body of a webhook. */
export type WebhookEvent =
  /** A contact was created. */
  | { type: 'contact.created'; timestamp: string; data: ContactEventData }
  /** A contact was changed. */
  | { type: 'contact.updated'; timestamp: string; data: ContactEventData }
  /** A contact was deleted; it can be restored. */
  | { type: 'contact.deleted'; timestamp: string; data: ContactEventData }
  /** A deleted contact was restored. */
  | { type: 'contact.restored'; timestamp: string; data: ContactEventData }
  /** An account was created. */
  | { type: 'account.created'; timestamp: string; data: AccountEventData }
  /** An account was corrected. */
  | { type: 'account.updated'; timestamp: string; data: AccountEventData }
  /** A task was created. */
  | { type: 'task.created'; timestamp: string; data: TaskEventData }
  /** A task was changed, marked as done or opened again. */
  | { type: 'task.updated'; timestamp: string; data: TaskEventData }
  /** An import has written all of its records. */
  | { type: 'import.completed'; timestamp: string; data: ImportCompletedData }
  /** An import was taken back. */
  | { type: 'import.undone'; timestamp: string; data: ImportUndoneData }
  /** An admin tests the endpoint. */
  | { type: 'webhook.test'; timestamp: string; data: WebhookTestData }

/** A place in the request and what is wrong there. */
export interface ProblemPlace {
  /** JSON pointer into the body (RFC 6901). */
  pointer?: string | undefined
  /** What is wrong at this place, stable. */
  code: string
  /** What is wrong and what to do, in a sentence. */
  detail: string
  /** Name of the query parameter. */
  parameter?: string | undefined
  /** Name of the header. */
  header?: string | undefined
}

/** RFC 9457 problem details. */
export interface Problem {
  /** Address of a page that explains the problem. */
  type: string
  /** The same for every occurrence of the code. */
  title: string
  /** The HTTP status. */
  status: number
  /** What is wrong this time, and what to do. */
  detail: string
  /** Stable name of the problem. */
  code: ProblemCode
  /** Finds this request in the log of the operator. */
  requestId: string
  /** The places that are wrong, when there are such. */
  errors?: ProblemPlace[] | undefined
}
