import {
  type exportJobs,
  type NamedOperation,
  operations,
  type ResourceName,
  type Resources,
  type Scope,
} from '@masthead/contract'
import type { SampleRecords } from '../records/populated-tenant.ts'
import type { Call, CallOptions, CallResponse } from '../service.ts'

export type ValidRequest = {
  path: string
  body?: Record<string, unknown>
  /** The one that it needs, where others of the operation open it for other records. */
  scope?: Scope
}

type Operations = { [R in ResourceName]: Resources[R]['operations'] }[ResourceName] | (typeof exportJobs)['operations']
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
  UpdateAccountRecord: ({ account }) => ({
    path: `/accounts/${account.accountId}`,
    body: { city: 'Bonn', billingEmail: null },
  }),
  CreateTaskRecord: ({ account }) => ({
    path: '/tasks',
    body: { accountId: account.accountId, title: 'Call back', dueDate: '2028-02-29' },
  }),
  UpdateTaskRecord: ({ account, task }) => ({
    path: `/tasks/${task.id}`,
    body: { accountId: account.id, doneAt: '2026-03-04T05:06:07Z', userId: null },
  }),
  CreateExport: () => ({ path: '/exports', body: { resources: ['contacts'], format: 'ndjson' }, scope: ofExport }),
}

/** Of the sample export. */
const ofExport: Scope = 'contacts:read'

const exported: Readonly<Record<string, (records: SampleRecords) => ValidRequest>> = {
  GetExport: ({ export: { id } }) => ({ path: `/exports/${id}`, scope: ofExport }),
  DownloadExport: ({ export: { id } }) => ({ path: `/exports/${id}/files/contacts.csv`, scope: ofExport }),
  DeleteExport: ({ deletedExport: { id } }) => ({ path: `/exports/${id}`, scope: ofExport }),
}

/** What needs no body is sent for the list or the sample record; what deletes, for one that is deleted already. */
export const validRequest = (name: string, records: SampleRecords): ValidRequest => {
  const byName: Readonly<Record<string, (records: SampleRecords) => ValidRequest>> = { ...withBody, ...exported }
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
