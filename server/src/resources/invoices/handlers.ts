import type { Resources } from '@masthead/contract'
import { found, type Handlers } from '../../operation-call.ts'
import { findBody } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'

export const handlers: Handlers<Resources['invoices']> = {
  GetInvoices: ({ tenant, query }) => listRecords(tenant, 'invoices', query),

  GetInvoiceById: async ({ tenant, params: { invoiceId } }) =>
    found(await findBody(tenant.read, 'invoices', invoiceId), 'invoice', invoiceId),
}
