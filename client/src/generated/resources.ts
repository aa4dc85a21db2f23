/** GENERATED from the contract by `npm run generate`. */

import type { Caller, CallOptions, ConditionalOptions, DownloadOptions, KeyedOptions } from '../caller.ts'
import type { List } from '../list.ts'
import type {
  Account,
  AccountChanges,
  AccountCreated,
  AccountInput,
  AccountQuery,
  Contact,
  ContactInput,
  ContactQuery,
  Export,
  ExportInput,
  ExportList,
  Invoice,
  InvoiceQuery,
  Publication,
  PublicationQuery,
  Subscription,
  SubscriptionQuery,
  Task,
  TaskChanges,
  TaskInput,
  TaskQuery,
  TaskRecord,
} from './contract.ts'

/** The titles a publisher sells. */
export class Publications {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List publications. Needs `publications:read`. */
  list(query: PublicationQuery = {}, options: CallOptions = {}): List<Publication> {
    return this.#caller.list('GetPublications', ['publications'], options, query)
  }

  /** Get a publication by its code or id. Needs `publications:read`. */
  get(publicationId: string, options: CallOptions = {}): Promise<Publication> {
    return this.#caller.call('GetPublicationById', 'GET', ['publications', publicationId], options)
  }
}

/** Customer companies. */
export class Accounts {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List accounts. Needs `accounts:read`. */
  list(query: AccountQuery = {}, options: CallOptions = {}): List<Account> {
    return this.#caller.list('GetAccounts', ['accounts'], options, query)
  }

  /** Create an account, and its first contact when a person is given. Needs `accounts:write`. */
  create(account: AccountInput, options: KeyedOptions = {}): Promise<AccountCreated> {
    return this.#caller.call('CreateAccountRecord', 'POST', ['accounts'], options, account)
  }

  /** Get an account by its business identifier or id. Needs `accounts:read`. */
  get(accountId: string, options: CallOptions = {}): Promise<Account> {
    return this.#caller.call('GetAccountById', 'GET', ['accounts', accountId], options)
  }

  /** Correct an account: what is absent stays, null clears. Needs `accounts:write`. */
  update(accountId: string, account: AccountChanges, options: ConditionalOptions<Account> = {}): Promise<Account> {
    return this.#caller.call('UpdateAccountRecord', 'PATCH', ['accounts', accountId], options, account)
  }
}

/** People at an account. */
export class Contacts {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List contacts. Needs `contacts:read`. */
  list(query: ContactQuery = {}, options: CallOptions = {}): List<Contact> {
    return this.#caller.list('GetContacts', ['contacts'], options, query)
  }

  /** Create a contact. Needs `contacts:write`. */
  create(contact: ContactInput, options: KeyedOptions = {}): Promise<Contact> {
    return this.#caller.call('CreateContactRecord', 'POST', ['contacts'], options, contact)
  }

  /** Get a contact, also a deleted one. Needs `contacts:read`. */
  get(contactId: string, options: CallOptions = {}): Promise<Contact> {
    return this.#caller.call('GetContactById', 'GET', ['contacts', contactId], options)
  }

  /** Update a contact: what is absent stays, null clears. Needs `contacts:write`. */
  update(contactId: string, contact: ContactInput, options: ConditionalOptions<Contact> = {}): Promise<Contact> {
    return this.#caller.call('UpdateContactRecord', 'PATCH', ['contacts', contactId], options, contact)
  }

  /** Delete a contact; it can be restored. Needs `contacts:write`. */
  delete(contactId: string, options: ConditionalOptions<Contact> = {}): Promise<Contact> {
    return this.#caller.call('DeleteContactRecord', 'DELETE', ['contacts', contactId], options)
  }

  /** Restore a deleted contact. Needs `contacts:write`. */
  restore(contactId: string, options: ConditionalOptions<Contact> & KeyedOptions = {}): Promise<Contact> {
    return this.#caller.call('RestoreContactRecord', 'POST', ['contacts', contactId, 'restore'], options)
  }
}

/** What an account subscribes to. */
export class Subscriptions {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List subscriptions. Needs `subscriptions:read`. */
  list(query: SubscriptionQuery = {}, options: CallOptions = {}): List<Subscription> {
    return this.#caller.list('GetSubscriptions', ['subscriptions'], options, query)
  }

  /** Get a subscription by its id or business identifier. Needs `subscriptions:read`. */
  get(subscriptionId: string, options: CallOptions = {}): Promise<Subscription> {
    return this.#caller.call('GetSubscriptionById', 'GET', ['subscriptions', subscriptionId], options)
  }
}

/** What an account owes and has paid. */
export class Invoices {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List invoices. Needs `invoices:read`. */
  list(query: InvoiceQuery = {}, options: CallOptions = {}): List<Invoice> {
    return this.#caller.list('GetInvoices', ['invoices'], options, query)
  }

  /** Get an invoice. Needs `invoices:read`. */
  get(invoiceId: string, options: CallOptions = {}): Promise<Invoice> {
    return this.#caller.call('GetInvoiceById', 'GET', ['invoices', invoiceId], options)
  }
}

/** Things to do for an account. */
export class Tasks {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** List tasks. Needs `tasks:read`. */
  list(query: TaskQuery = {}, options: CallOptions = {}): List<TaskRecord> {
    return this.#caller.list('GetTasks', ['tasks'], options, query)
  }

  /** Create a task for an account. Needs `tasks:write`. */
  create(task: TaskInput, options: KeyedOptions = {}): Promise<Task> {
    return this.#caller.call('CreateTaskRecord', 'POST', ['tasks'], options, task)
  }

  /** Get a task. Needs `tasks:read`. */
  get(taskId: string, options: CallOptions = {}): Promise<TaskRecord> {
    return this.#caller.call('GetTaskById', 'GET', ['tasks', taskId], options)
  }

  /** Update a task, or mark it as done: what is absent stays, null clears. Needs `tasks:write`. */
  update(taskId: string, task: TaskChanges, options: ConditionalOptions<TaskRecord> = {}): Promise<TaskRecord> {
    return this.#caller.call('UpdateTaskRecord', 'PATCH', ['tasks', taskId], options, task)
  }
}

/** Files of the records of one moment, made in the background and kept for a day. */
export class Exports {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Ask for files of the records of one moment. An export needs the scopes to read all lists that it holds. */
  create(given: ExportInput, options: KeyedOptions = {}): Promise<Export> {
    return this.#caller.call('CreateExport', 'POST', ['exports'], options, given)
  }

  /** List the exports of the last day that the token may read. An export needs the scopes to read all lists that it holds. */
  list(options: CallOptions = {}): Promise<ExportList> {
    return this.#caller.call('GetExports', 'GET', ['exports'], options)
  }

  /** Get how far an export is, and its files. An export needs the scopes to read all lists that it holds. */
  get(exportId: string, options: CallOptions = {}): Promise<Export> {
    return this.#caller.call('GetExport', 'GET', ['exports', exportId], options)
  }

  /** Download a file of an export, or a part of it by `Range`. An export needs the scopes to read all lists that it holds. */
  download(
    exportId: string,
    fileName: string,
    options: DownloadOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#caller.download('DownloadExport', ['exports', exportId, 'files', fileName], options)
  }

  /** Cancel an export, or delete its files. An export needs the scopes to read all lists that it holds. */
  delete(exportId: string, options: CallOptions = {}): Promise<Export> {
    return this.#caller.call('DeleteExport', 'DELETE', ['exports', exportId], options)
  }
}

/** Every resource of the API. */
export class Resources {
  /** The titles a publisher sells. */
  readonly publications: Publications
  /** Customer companies. */
  readonly accounts: Accounts
  /** People at an account. */
  readonly contacts: Contacts
  /** What an account subscribes to. */
  readonly subscriptions: Subscriptions
  /** What an account owes and has paid. */
  readonly invoices: Invoices
  /** Things to do for an account. */
  readonly tasks: Tasks
  /** Files of the records of one moment, made in the background and kept for a day. */
  readonly exports: Exports

  constructor(caller: Caller) {
    this.publications = new Publications(caller)
    this.accounts = new Accounts(caller)
    this.contacts = new Contacts(caller)
    this.subscriptions = new Subscriptions(caller)
    this.invoices = new Invoices(caller)
    this.tasks = new Tasks(caller)
    this.exports = new Exports(caller)
  }
}
