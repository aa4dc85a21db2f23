import { setImmediate as nextTurn } from 'node:timers/promises'
import { mostCounted, type ResourceName } from '@masthead/contract'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import type { Database, TenantDatabase } from '../../database/database.ts'
import { totalLevel } from '../../database/tally-levels.ts'
import { keyOfWord } from '../search-keys.ts'
import type { Fields } from '../stored-record.ts'
import { searchText } from '../writes/write.ts'

/** How words are looked for. */
export type Search = {
  words: string[]
  /** What the index is asked for: one or two parts of the words. Null where it is sooner to read the texts in order until so many are found. */
  partsFor: (most: number) => string[] | null
  /** The versions of the list at which there surely are so many that nobody need count them. */
  many: VersionRange | null
}

export type VersionRange = { first: number; last: number }

/**
 * A few records of a list tell which words are common, and which letters rare. An index leads to rare words; the texts of a common one are
 * read in order until enough are found. The wrong choice costs seconds in a million records, so after a minute the sample is taken again
 * if the list has changed. `version` is that of the list.
 */
type Sample = {
  texts: string[]
  total: number
  trigrams: ReadonlyMap<string, number>
  version: number
  /** The version when it was last compared with the list. */
  compared: number
}
/** A sample costs up to a tenth of a second of processor time, and after so few writes it would tell the same. */
const mostWritten = 1 / 16
/** Of a long list four times as many: the more, the sooner it is sure that nobody need count, and to count 10,000 takes longest there. */
const sampleSize = 'case when last > 200000 then 2048 else 512 end'
/** In microseconds: a text that is read in order, a record to which the index leads, and the index itself for each record of the list. */
const costs = { text: 0.9, found: 2.5, listed: 0.01 }

const samples = new LRUCache<string, Sample, { tenant: TenantDatabase; resource: ResourceName }>({
  ...atMost(50),
  ttl: 60_000,
  allowStale: true,
  fetchMethod: async (_key, former, { context: { tenant, resource } }) =>
    (former && (await stillLike(former, tenant, resource))) ?? readSample(tenant, resource),
})

export const planSearch = async (tenant: TenantDatabase, resource: ResourceName, words: string[]): Promise<Search> => {
  const context = { tenant, resource }
  const sample = await samples.forceFetch(`${tenant.tenantId} ${resource}`, { context })
  const found = isAbsent(words, sample)
    ? 0
    : sample.texts.filter((text) => words.every((word) => text.includes(word))).length
  let parts: string[] | null | undefined
  const partsFor = (most: number): string[] | null => {
    if (!isSoonerByIndex(most, found, sample)) return null
    if (parts === undefined) parts = rarestParts(words, sample)
    return parts
  }
  return { words, partsFor, many: versionsWithMany(found, sample) }
}

const isSoonerByIndex = (most: number, found: number, { texts, total }: Sample): boolean => {
  const share = (found + 0.5) / (texts.length + 1)
  const read = Math.min(total, most / share)
  return total * (share * costs.found + costs.listed) < read * costs.text
}

/** Three letters that no text has tell sooner than the texts that the sample lacks a word. */
const isAbsent = (words: readonly string[], { trigrams }: Sample): boolean =>
  words.some((word) => wholeWords(word).some((run) => trigramsOf(run).some((trigram) => !trigrams.has(trigram))))

/** Null where it has to be taken again. */
const stillLike = async (sample: Sample, { read }: TenantDatabase, resource: ResourceName): Promise<Sample | null> => {
  const text = `select version from heads where tenant_id = $1 and resource = '${resource}'`
  const [head] = await read<{ version: number }>({ text })
  const compared = head?.version ?? 0
  const written = compared - sample.version
  return written >= 0 && written <= sample.total * mostWritten ? { ...sample, compared } : null
}

const readSample = async ({ read }: TenantDatabase, resource: ResourceName): Promise<Sample> => {
  const rows = await read<{ body: Buffer; total: number; version: number }>({
    text: `select distinct on (record.position) record.body, head.version,
        (select count from tallies where tenant_id = $1 and resource = '${resource}' and facet = '' and class = 0 and level = ${totalLevel}) as total
      from (select last, version, ${sampleSize} as size from heads where tenant_id = $1 and resource = '${resource}') as head,
        generate_series(0, head.size - 1) as number,
        lateral (
          select position, body from ${resource} where tenant_id = $1 and class = 0 and position > number * head.last / head.size
          order by position limit 1
        ) as record
      order by record.position`,
    // A cached plan for a short list would read the whole of a long one for each record of the sample.
    isPlannedEachTime: true,
  })
  const texts: string[] = []
  const trigrams = new Map<string, number>()
  for (const [index, { body }] of rows.entries()) {
    const text = searchText(resource, JSON.parse(String(body)) as Fields) ?? '' // a stored body is a record
    texts.push(text)
    countTrigrams(text, trigrams)
    // Other requests go on in between.
    if (index % textsOfTurn === 0) await nextTurn()
  }
  const { total = 0, version = 0 } = rows[0] ?? {}
  return { texts, total, trigrams, version, compared: version }
}

const textsOfTurn = 16

/** In how many texts three letters or digits stand together. */
const countTrigrams = (text: string, counts: Map<string, number>): void => {
  for (const trigram of new Set(wholeWords(text).flatMap(trigramsOf)))
    counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
}

const wholeWords = (text: string): string[] => text.match(/[\p{L}\p{N}]{3,}/gu) ?? []

const trigramsOf = (word: string): string[] => {
  const letters = /[\ud800-\udfff]/.test(word) ? [...word] : word
  const trigrams: string[] = []
  for (let index = 0; index + 3 <= letters.length; index++) {
    const three = letters.slice(index, index + 3)
    trigrams.push(typeof three === 'string' ? three : three.join(''))
  }
  return trigrams
}

const mostParts = 2
/** The index looks up every three letters that it is given, so of a long word it is given so many that occur least often. */
const partLength = 5

/** Each part is of another word, or of another run of letters in an e-mail address: each of these may be common, and both together rare. */
const rarestParts = (words: readonly string[], sample: Sample): string[] | null => {
  const runs = words.flatMap((word) => keyOfWord(word) ?? wholeWords(word))
  const rarest = [...new Set(runs)].map((run) => rarestPart(run, sample))
  if (rarest.length === 0) return null
  rarest.sort((a, b) => a.rank - b.rank)
  return rarest.slice(0, mostParts).map(({ part }) => part)
}

/** The lower its rank, the rarer: the logarithm of how likely a text has all of its trigrams, if these came independently. */
const rarestPart = (run: string, { texts, trigrams }: Sample): { part: string; rank: number } => {
  const letters = [...run]
  const length = Math.min(letters.length, partLength)
  const ranks = trigramsOf(run).map((one) => Math.log(((trigrams.get(one) ?? 0) + 0.5) / (texts.length + 1)))
  let best = { at: 0, rank: Number.POSITIVE_INFINITY }
  for (let at = 0; at + length <= letters.length; at++) {
    let rank = 0
    for (let index = at; index < at + length - 2; index++) rank += ranks[index] ?? 0
    if (rank < best.rank) best = { at, rank }
  }
  return { part: letters.slice(best.at, best.at + length).join(''), rank: best.rank }
}

/** Each write since the sample was taken may have left one that matches fewer. */
const versionsWithMany = (found: number, sample: Sample): VersionRange | null => {
  const spare = Math.floor(surelyMatching(found / sample.texts.length, sample) - mostCounted)
  const last = sample.version + spare
  return sample.compared <= last ? { first: sample.version, last } : null
}

/**
 * How many of a list surely match, of which such a share of the sample does: by Chernoff's bound, the chance that fewer do is below one in a
 * billion.
 */
const surelyMatching = (share: number, { texts, total }: Sample): number => {
  let [least, most] = [0, share]
  for (let step = 0; step < 30; step++) {
    const middle = (least + most) / 2
    const divergence =
      share * Math.log(share / middle) + (share < 1 ? (1 - share) * Math.log((1 - share) / (1 - middle)) : 0)
    if (texts.length * divergence > Math.log(1e9)) least = middle
    else most = middle
  }
  return least * total
}

/** How many texts were written, and how many searches read their index, by PostgreSQL's own count, which may be a second late. */
type Uses = { written: number; searched: number }
const countUses = `select pg_stat_get_tuples_inserted('search_texts'::regclass) + pg_stat_get_tuples_updated('search_texts'::regclass) as written,
  pg_stat_get_numscans('search_texts_by_text'::regclass) as searched`

/**
 * What is written waits to be put into the index, and every search reads what waits one by one. To put it there at once costs less for each
 * text the more of them wait, so it is done when writing pauses, when searches have read as much as that costs, or when many wait.
 */
export const newSearchTidier = (database: Database): (() => Promise<void>) => {
  let tidied: Uses | null = null
  let last: Uses | null = null
  return async () => {
    const [now] = await database.query<Uses>({ text: countUses })
    const isDue = now && (!tidied || !last || isWorthTidying(now, tidied, last))
    last = now ?? null
    if (!isDue) return
    await database.query({ text: 'select tidy_search()' })
    tidied = now
  }
}

/** So many texts cost a search 10 ms. They fill half of the waiting list, and a create that finds the list full has to empty it. */
const mostWaiting = 8_000
/** The product of waiting texts and searches at which searches have spent as much as emptying the list costs: 1.3 µs a text, and 100 ms. */
const mostRead = 100_000

const isWorthTidying = (now: Uses, tidied: Uses, last: Uses): boolean => {
  const waiting = now.written - tidied.written
  const searched = now.searched - tidied.searched
  // PostgreSQL begins to count anew where it has crashed.
  if (waiting < 0 || searched < 0) return true
  return waiting > 0 && (now.written === last.written || waiting >= mostWaiting || waiting * searched >= mostRead)
}
