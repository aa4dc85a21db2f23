import { type NamedOperation, operations, type ResourceName, type Resources } from '@masthead/contract'
import type { SampleRecords } from '../records/populated-tenant.ts'
import type { Call, CallOptions, CallResponse } from '../service.ts'

export type ValidRequest = { path: string; body?: Record<string, unknown> }

type Operations = { [R in ResourceName]: Resources[R]['operations'] }[ResourceName]
type WithBody<O = Operations> = O extends unknown
  ? { [Name in keyof O]: O[Name] extends { body: unknown } ? Name : never }[keyof O]
  : never

/** A request for each operation with a body, which succeeds, also when it is sent again. */
const withBody: Readonly<Record<WithBody, (records: SampleRecords) => ValidRequest>> = {
  CreateContactRecord: ({ account }) => ({
    path: '/contacts',
    body: { accountId: account.accountId, firstName: 'Grace', lastName: 'Hopper', notes: null },
  }),
  UpdateContactRecord: ({ account, contact }) => ({
    path: `/contacts/${contact.id}`,
    body: { accountId: account.accountId, title: 'Rear Admiral' },
  }),
  CreateAccountRecord: ({ publication }) => ({
    path: '/accounts',
    body: { company: 'Acme', primaryPublicationId: publication.code, email: 'a@example.com' },
  }),
  CreateTaskRecord: ({ account }) => ({
    path: '/tasks',
    body: { accountId: account.accountId, title: 'Call back', dueDate: '2028-02-29' },
  }),
}

/** What needs no body is sent for the list or the sample record; what deletes, for one that is deleted already. */
export const validRequest = (name: string, records: SampleRecords): ValidRequest => {
  const byName: Readonly<Record<string, (records: SampleRecords) => ValidRequest>> = withBody
  const request = byName[name]
  if (request) return request(records)
  const named = operations.find((one) => one.name === name)
  if (!named) throw new Error(`there is no operation ${name}`)
  const { operation, resource } = named
  const sample = operation.method === 'DELETE' ? 'deletedContact' : (resource.singular as keyof SampleRecords) // of every list
  const record: Readonly<Record<string, unknown>> = { ...records[sample] }
  return { path: operation.path.replace(/\{\w+\}/, String(record[resource.canonicalIdentifier ?? 'id'])) }
}

/** Calls an operation with its valid request, changed by `change`. */
export const callOperation = (
  call: Call,
  named: NamedOperation,
  records: SampleRecords,
  options: CallOptions & { method?: string } = {},
  change: (request: ValidRequest) => ValidRequest = (request) => request,
): Promise<CallResponse> => {
  const { method = named.operation.method, ...rest } = options
  const { path, body } = change(validRequest(named.name, records))
  return call(method, path, { ...(body !== undefined && { body }), ...rest })
}
