import { instantOn, timestampOf } from './calendar.ts'
import type { DemoPublication } from './record.ts'
import { SeededRandom, type Weighted } from './seeded-random.ts'
import { TITLES } from './vocabulary.ts'

/** What happened, happened at latest on `yesterday`: at any hour of today it lies in the past. */
export type Publisher = { random: SeededRandom; today: number; yesterday: number; titles: Weighted<Title> }
export type Title = (typeof TITLES)[number] & { record: DemoPublication }

export const RETIRED_DAYS_AGO = 1070

export function createPublisher(seed: number, today: number): Publisher {
  const random = new SeededRandom(seed)
  const titles = TITLES.map((title) => [createTitle(random, today, title), title.popularity] as const)
  return { random, today, yesterday: today - 1, titles }
}

function createTitle(random: SeededRandom, today: number, title: (typeof TITLES)[number]): Title {
  const created = instantOn(random, today - random.between(20 * 365, 25 * 365))
  const updated = instantOn(random, today - (title.isRetired ? RETIRED_DAYS_AGO : random.between(30, 900)))
  const record = {
    id: random.uuidV7(created),
    code: title.code,
    name: title.name,
    isActive: !title.isRetired,
    frequency: title.frequency,
    issFrequency: String(title.issuesYearly),
    issueDecimals: title.issueDecimals,
    createdAt: timestampOf(created),
    updatedAt: timestampOf(updated),
  }
  return { ...title, record }
}
