import { instantOn, timestampOf } from './calendar.ts'
import type { DemoPublication } from './record.ts'
import { SeededRandom, type Weighted } from './seeded-random.ts'
import { publicationTitles } from './vocabulary.ts'

/** What happened, happened at latest on `yesterday`: at any hour of today it lies in the past. */
export type Publisher = { random: SeededRandom; today: number; yesterday: number; titles: Weighted<Title> }
export type Title = (typeof publicationTitles)[number] & { record: DemoPublication }

export const retiredDaysAgo = 1070

export const createPublisher = (seed: number, today: number): Publisher => {
  const random = new SeededRandom(seed)
  const titles = publicationTitles.map((title) => [createTitle(random, today, title), title.popularity] as const)
  return { random, today, yesterday: today - 1, titles }
}

const createTitle = (random: SeededRandom, today: number, title: (typeof publicationTitles)[number]): Title => {
  const created = instantOn(random, today - random.between(20 * 365, 25 * 365))
  const updated = instantOn(random, today - (title.isRetired ? retiredDaysAgo : random.between(30, 900)))
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
