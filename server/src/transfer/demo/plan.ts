import type { Title } from './publisher.ts'
import type { InvoiceStatus, SubscriptionStatus } from './record.ts'

/** One link of a renewal chain. */
export type Term = {
  id: string
  title: Title
  status: SubscriptionStatus
  months: number
  startDay: number
  endDay: number
  expireDay: number
  renewedFrom: Term | null
  isRenewed: boolean
  copiesShare: number
  created: number
  deleted: number | null
}

/** An invoice in whole cents. */
export type Bill = Order & { net: number; discount: number; tax: number; total: number; applied: number }

export type Order = {
  publicationId: string | null
  issueId: string | null
  type: 'Subscription' | 'Renewal' | 'Single copies' | 'Reprints'
  description: string
  status: InvoiceStatus
  issueDay: number
  gross: number
}

export const money = (cents: number): string => (cents / 100).toFixed(2)
