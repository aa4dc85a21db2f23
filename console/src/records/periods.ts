import { addDays, monthOf } from './today.ts'

/** Days, both ends included. */
export type Days = { from?: string; to?: string }

/** Days as people name them. An address holds the name, so that a view that was saved in May shows June in June. */
const periods = {
  today: { label: 'Today', daysOf: (today: string): Days => ({ from: today, to: today }) },
  'last-7-days': { label: 'Last 7 days', daysOf: (today: string): Days => ({ from: addDays(today, -6), to: today }) },
  'this-month': { label: 'This month', daysOf: (today: string): Days => monthOf(today) },
  'next-month': { label: 'Next month', daysOf: (today: string): Days => monthOf(today, 1) },
  'next-30-days': { label: 'Next 30 days', daysOf: (today: string): Days => ({ from: today, to: addDays(today, 29) }) },
  'last-month': { label: 'Last month', daysOf: (today: string): Days => monthOf(today, -1) },
  'this-year': {
    label: 'This year',
    daysOf: (today: string): Days => ({ from: `${today.slice(0, 4)}-01-01`, to: `${today.slice(0, 4)}-12-31` }),
  },
  past: { label: 'Before today', daysOf: (today: string): Days => ({ to: addDays(today, -1) }) },
} as const

type Period = keyof typeof periods

export const isPeriod = (text: string | undefined): text is Period => text !== undefined && Object.hasOwn(periods, text)
export const labelOfPeriod = (period: Period): string => periods[period].label
export const daysOf = (period: Period, today: string): Days => periods[period].daysOf(today)

/** The periods that make sense of days to come and gone, and of changes, which are past. */
export const periodsOfDays: readonly Period[] = [
  'this-month',
  'next-month',
  'next-30-days',
  'last-month',
  'this-year',
  'past',
]
export const periodsOfChanges: readonly Period[] = ['today', 'last-7-days', 'this-month', 'last-month', 'this-year']
