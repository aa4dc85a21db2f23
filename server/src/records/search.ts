import type { ResourceName } from '@masthead/contract'
import { LRUCache } from 'lru-cache'
import type { Database, TenantDatabase } from '../database/database.ts'
import type { Fields } from './stored-record.ts'
import { searchText } from './write.ts'

/**
 * Which words are common in a list is told by a few of its records. An index leads to rare words; the texts of a common one are read in
 * order until enough are found. The wrong choice costs seconds in a million records, and is made anew after a minute.
 */
const samples = new LRUCache<string, Promise<string[]>>({ max: 500, ttl: 60_000 })
const sampleSize = 128
/** So many of the sample are some 4 % of the list. */
const mostOfRare = 5

/** The part of each word by which the index is asked; null where it is not to be asked. */
export const rarestParts = async (
  tenant: TenantDatabase,
  resource: ResourceName,
  words: readonly string[],
): Promise<string[] | null> => {
  if (!words.some(hasTrigram)) return null
  const sample = await sampleOf(tenant, resource)
  const found = sample.filter((text) => words.every((word) => text.includes(word)))
  return found.length > mostOfRare ? null : words.map((word) => rarestPart(word, sample))
}

const hasTrigram = (word: string): boolean => /[\p{L}\p{N}]{3}/u.test(word)

const sampleOf = (tenant: TenantDatabase, resource: ResourceName): Promise<string[]> => {
  const key = `${tenant.tenantId} ${resource}`
  const known = samples.get(key)
  if (known) return known
  const reading = readSample(tenant, resource)
  samples.set(key, reading)
  reading.catch(() => samples.delete(key))
  return reading
}

const readSample = async ({ read }: TenantDatabase, resource: ResourceName): Promise<string[]> => {
  const rows = await read<{ body: Buffer }>({
    text: `select record.body
      from (select last from heads where tenant_id = $1 and resource = '${resource}') as head,
        generate_series(0, ${sampleSize - 1}) as number,
        lateral (
          select body from ${resource} where tenant_id = $1 and class = 0 and position > number * head.last / ${sampleSize}
          order by position limit 1
        ) as record`,
  })
  return rows.map(({ body }) => searchText(resource, JSON.parse(String(body)) as Fields) ?? '') // a stored body is a record
}

const partLength = 8

/** The index looks up every three letters that it is given, so of a long word it is given the part that occurs least often. */
const rarestPart = (word: string, sample: readonly string[]): string => {
  const letters = [...word]
  let best = { part: word, count: Number.POSITIVE_INFINITY }
  for (let start = 0; start + partLength <= letters.length; start += 2) {
    const part = letters.slice(start, start + partLength).join('')
    const count = sample.filter((text) => text.includes(part)).length
    if (count < best.count && hasTrigram(part)) best = { part, count }
  }
  return best.part
}

/** Puts into the index what was written since the last time, which every search has to read one by one until then. */
export const tidySearch = async (database: Database): Promise<void> => {
  await database.query({ text: 'select tidy_search()' })
}
