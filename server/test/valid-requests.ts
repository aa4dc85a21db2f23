import type { NamedOperation, ResourceName, Resources } from '@masthead/contract'
import type { SampleRecords } from './populated-tenant.ts'
import type { Call, CallAnswer, CallOptions } from './service.ts'

export type ValidRequest = { path: string; body?: Record<string, unknown> }

type OperationName = { [R in ResourceName]: keyof Resources[R]['operations'] }[ResourceName]

/** A request for each operation that succeeds, also when it is sent again. An operation without one fails the loops over the contract. */
export const validRequests: Readonly<Record<OperationName, (records: SampleRecords) => ValidRequest>> = {
  GetSubscriptions: () => ({ path: '/subscriptions' }),
  GetSubscriptionById: ({ subscription }) => ({ path: `/subscriptions/${subscription.id}` }),
  GetPublications: () => ({ path: '/publications' }),
  GetPublicationById: ({ publication }) => ({ path: `/publications/${publication.id}` }),
  GetInvoices: () => ({ path: '/invoices' }),
  GetInvoiceById: ({ invoice }) => ({ path: `/invoices/${invoice.id}` }),
  GetContacts: () => ({ path: '/contacts' }),
  CreateContactRecord: ({ account }) => ({
    path: '/contacts',
    body: { accountId: account.accountId, firstName: 'Grace', lastName: 'Hopper', notes: null },
  }),
  GetContactById: ({ contact }) => ({ path: `/contacts/${contact.id}` }),
  UpdateContactRecord: ({ account, contact }) => ({
    path: `/contacts/${contact.id}`,
    body: { accountId: account.accountId, title: 'Rear Admiral' },
  }),
  DeleteContactRecord: ({ deletedContact }) => ({ path: `/contacts/${deletedContact.id}` }),
  RestoreContactRecord: ({ contact }) => ({ path: `/contacts/${contact.id}/restore` }),
  GetAccounts: () => ({ path: '/accounts' }),
  CreateAccountRecord: ({ publication }) => ({
    path: '/accounts',
    body: { company: 'Acme', primaryPublicationId: publication.code, email: 'a@example.com' },
  }),
  GetAccountById: ({ account }) => ({ path: `/accounts/${account.accountId}` }),
  CreateTaskRecord: ({ account }) => ({
    path: '/tasks',
    body: { accountId: account.accountId, title: 'Call back', dueDate: '2028-02-29' },
  }),
}

export const validRequest = (name: string, records: SampleRecords): ValidRequest => {
  const byName: Readonly<Record<string, (records: SampleRecords) => ValidRequest>> = validRequests
  const request = byName[name]
  if (!request) throw new Error(`the operation ${name} has no valid request: add one to valid-requests.ts`)
  return request(records)
}

/** Calls an operation with its valid request, changed by `change`. */
export const callOperation = (
  call: Call,
  { name, operation }: NamedOperation,
  records: SampleRecords,
  options: CallOptions & { method?: string } = {},
  change: (request: ValidRequest) => ValidRequest = (request) => request,
): Promise<CallAnswer> => {
  const { method = operation.method, ...rest } = options
  const { path, body } = change(validRequest(name, records))
  return call(method, path, { ...(body !== undefined && { body }), ...rest })
}
