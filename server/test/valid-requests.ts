import { type NamedOperation, operations, type ResourceName, type Resources } from '@masthead/contract'
import type { SampleRecords } from './populated-tenant.ts'
import type { Call, CallAnswer, CallOptions } from './service.ts'

export type ValidRequest = { path: string; body?: Record<string, unknown> }

type Operations = { [R in ResourceName]: Resources[R]['operations'] }[ResourceName]
type WriteName<O = Operations> = O extends unknown
  ? { [Name in keyof O]: O[Name] extends { method: 'GET' } ? never : Name }[keyof O]
  : never

/** A request for each write that succeeds, also when it is sent again. */
const writes: Readonly<Record<WriteName, (records: SampleRecords) => ValidRequest>> = {
  CreateContactRecord: ({ account }) => ({
    path: '/contacts',
    body: { accountId: account.accountId, firstName: 'Grace', lastName: 'Hopper', notes: null },
  }),
  UpdateContactRecord: ({ account, contact }) => ({
    path: `/contacts/${contact.id}`,
    body: { accountId: account.accountId, title: 'Rear Admiral' },
  }),
  DeleteContactRecord: ({ deletedContact }) => ({ path: `/contacts/${deletedContact.id}` }),
  RestoreContactRecord: ({ contact }) => ({ path: `/contacts/${contact.id}/restore` }),
  CreateAccountRecord: ({ publication }) => ({
    path: '/accounts',
    body: { company: 'Acme', primaryPublicationId: publication.code, email: 'a@example.com' },
  }),
  CreateTaskRecord: ({ account }) => ({
    path: '/tasks',
    body: { accountId: account.accountId, title: 'Call back', dueDate: '2028-02-29' },
  }),
}

/** Of a read, the list or the sample record. */
export const validRequest = (name: string, records: SampleRecords): ValidRequest => {
  const byName: Readonly<Record<string, (records: SampleRecords) => ValidRequest>> = writes
  const write = byName[name]
  if (write) return write(records)
  const named = operations.find((one) => one.name === name)
  if (named?.operation.method !== 'GET') throw new Error(`${name} has no valid request: add one to valid-requests.ts`)
  const { singular, canonicalIdentifier = 'id' } = named.resource
  const record: Readonly<Record<string, unknown>> = { ...records[singular as keyof SampleRecords] } // of every list
  return { path: named.operation.path.replace(/\{\w+\}/, String(record[canonicalIdentifier])) }
}

/** Calls an operation with its valid request, changed by `change`. */
export const callOperation = (
  call: Call,
  named: NamedOperation,
  records: SampleRecords,
  options: CallOptions & { method?: string } = {},
  change: (request: ValidRequest) => ValidRequest = (request) => request,
): Promise<CallAnswer> => {
  const { method = named.operation.method, ...rest } = options
  const { path, body } = change(validRequest(named.name, records))
  return call(method, path, { ...(body !== undefined && { body }), ...rest })
}
