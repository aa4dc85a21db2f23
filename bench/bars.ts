import { median } from './percentiles.ts'
import type { Outcome, Results } from './rounds.ts'
import { deepPage, type ServerName } from './workloads.ts'

/** What is to be reached: a ratio of two cells of the table, or something that was measured by itself. */
export type Bar = { name: string; value: number; unit: '×' | 'MiB' | 'ms'; least?: number; most?: number }
export type JudgedBar = Bar & { reached: boolean }

type Cell = [workload: string, server: ServerName]
/** A ratio of their responses a second, unless another figure is named. */
type RatioBar = { name: string; of: Cell; by: Cell; figure?: 'rate' | 'p50' | 'p99'; least?: number; most?: number }

const hot = (what: string, least: number): RatioBar => ({
  name: `${what}, hot ÷ in memory`,
  of: [`${what}, hot`, 'masthead'],
  by: [`${what}, hot`, 'memory'],
  least,
})
const cold = (what: string): RatioBar => ({
  name: `${what}, cold ÷ stored bodies`,
  of: [`${what}, cold`, 'masthead'],
  by: [`${what}, cold`, 'stored'],
  least: 0.8,
})
const peers = { express: 'TypeORM', go: 'Go', tunedGo: 'tuned Go' }
const peer = (workload: string, server: keyof typeof peers, least: number): RatioBar => ({
  name: `${workload} ÷ ${peers[server]}`,
  of: [workload, 'masthead'],
  by: [workload, server],
  least,
})
/** How many times as long a search takes as a rare one. */
const search = (what: string): RatioBar => ({
  name: `${what} takes × a rare one`,
  figure: 'p50',
  most: 3,
  of: [`${what}, alone`, 'masthead'],
  by: ['rare search, alone', 'masthead'],
})
/** How many times as much a request of the first workload costs us as one of the second. */
const cost = (name: string, of: string, by: string, most: number): RatioBar => ({
  name,
  of: [by, 'masthead'],
  by: [of, 'masthead'],
  most,
})

const ratioBars: RatioBar[] = [
  peer('get by id, 20,000 random', 'go', 1),
  peer('get by id, 20,000 random, cold', 'go', 1),
  hot('get by id', 0.7),
  hot('page 1 of 1,000', 0.5),
  hot('page 1 of 1,000,000', 0.5),
  cold('get by id'),
  cold('page 1 of 1,000'),
  cold('page 1 of 1,000,000'),
  peer('page 1 of 1,000, hot', 'express', 5),
  peer('page 1 of 1,000,000, hot', 'express', 200),
  peer('rare search, alone', 'express', 50),
  peer('rare search, alone', 'tunedGo', 1),
  peer('rare search, 32 callers', 'tunedGo', 1),
  search('two-letter search'),
  search('whole e-mail search'),
  search('common search'),
  cost('page 15,000 costs × page 1', 'page 15,000, cold', 'page 1 of 1,000,000, cold', 1.5),
  {
    name: 'the same, one by one',
    figure: 'p50',
    most: 1.5,
    of: [`one by one: page ${deepPage.toLocaleString('en')} of 1,000,000`, 'masthead'],
    by: ['one by one: page 1 of 1,000,000', 'masthead'],
  },
  cost('page 1 of 1,000,000 costs × of 1,000', 'page 1 of 1,000,000, cold', 'page 1 of 1,000, cold', 1.3),
  cost('of an account, the same', 'of an account, cold', 'of an account of 1,000, cold', 1.2),
  cost('get by id, the same', 'get by id, cold', 'get by id of 1,000, cold', 1.2),
  cost('delegated token costs × service token', 'delegated token, get by id, hot', 'get by id, hot', 1.3),
  peer('create contact, 1 tenant', 'go', 0.6),
  {
    name: 'the same, p99',
    figure: 'p99',
    most: 1.5,
    of: ['create contact, 1 tenant', 'masthead'],
    by: ['create contact, 1 tenant', 'go'],
  },
  {
    name: 'create contact, 16 tenants ÷ inserts',
    least: 0.5,
    of: ['create contact, 16 tenants', 'masthead'],
    by: ['create contact, 16 tenants', 'postgres'],
  },
  peer('update contact, 16 tenants', 'express', 1.2),
]

/** The median of the ratios of each round, whose two slices are seconds apart; a pair of medians may be minutes apart. */
export const ratiosOf = (results: Results): Bar[] => {
  const byName = new Map([...results].map(([{ name }, cells]) => [name, cells]))
  return ratioBars.flatMap(({ name, of, by, figure = 'rate', least, most }) => {
    const [upper, lower] = [of, by].map(([workload, server]) => byName.get(workload)?.[server])
    if (!upper || !lower) return []
    const value = (slice: Outcome | undefined) => slice?.[figure] ?? Number.NaN
    const ratio = median(upper.map((slice, round) => value(slice) / value(lower[round])))
    return [{ name, value: ratio, unit: '×' as const, ...(least && { least }), ...(most && { most }) }]
  })
}

export const judge = (bar: Bar): JudgedBar => ({
  ...bar,
  reached: bar.value >= (bar.least ?? 0) && bar.value <= (bar.most ?? Number.POSITIVE_INFINITY),
})
