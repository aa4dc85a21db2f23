import { dateOf, dayOfInstant, instantAfter, instantOn, timestampOf } from './calendar.ts'
import type { Customer } from './customers.ts'
import type { Publisher } from './publisher.ts'
import type { DemoTask } from './record.ts'
import { weighted } from './seeded-random.ts'
import { taskTitles } from './vocabulary.ts'

/** What the staff of the publisher have done lately, or mean to do, for a customer. */
export function* taskRecords(publisher: Publisher, customer: Customer): Generator<DemoTask> {
  for (let left = publisher.random.weighted(taskCounts); left > 0; left--) yield taskRecord(publisher, customer)
}

const taskCounts = weighted([0, 1, 2, 3], [60, 28, 9, 3])

const taskRecord = ({ random, today, yesterday }: Publisher, customer: Customer): DemoTask => {
  const earliest = dayOfInstant(customer.created)
  const created = instantOn(random, Math.max(earliest + 1, yesterday - random.between(0, 90)))
  const createdDay = Math.min(yesterday, dayOfInstant(created))
  const done = random.chance(45) ? instantAfter(random, created, yesterday) : null
  const { type, title } = random.pick(taskTitles)
  return {
    id: random.uuidV7(created),
    accountId: customer.accountId,
    title,
    // Some of what is open is late, and most of it lies ahead.
    dueDate: dateOf(done === null ? today + random.between(-10, 40) : createdDay + random.between(1, 30)),
    userId: random.weighted(users),
    priority: random.maybe(40, ['high', 'low']),
    type,
    notes: random.maybe(15, ['Left a message.', 'Asked to be called in the afternoon.', 'Sent an e-mail first.']),
    doneAt: done === null ? null : timestampOf(done),
    route: 'native',
    createdAt: timestampOf(created),
    updatedAt: timestampOf(done ?? created),
  }
}

const users = weighted(['maria', 'jonas', 'priya', ''], [40, 30, 20, 10])
