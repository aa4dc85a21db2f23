import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readRecord } from '../../records/identifiers.ts'
import { listRecords } from '../../records/lists/list.ts'

export const handlers: Handlers<Resources['invoices']> = {
  GetInvoices: ({ tenant, query }) => listRecords(tenant, 'invoices', query),

  GetInvoiceById: ({ tenant, params: { invoiceId } }) => readRecord(tenant, 'invoices', invoiceId),
}
