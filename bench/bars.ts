import { median } from './percentiles.ts'
import type { Outcome, Results } from './rounds.ts'
import { deepPage, type ServerName } from './workloads.ts'

/** What is to be reached: a ratio of two cells of the table, or something that was measured by itself. */
export type Bar = { name: string; value: number; unit: '×' | 'MiB' | 'ms'; least?: number; most?: number }
export type JudgedBar = Bar & { reached: boolean }

type Cell = [workload: string, server: ServerName]
type RatioBar = { name: string; of: Cell; by: Cell; by50?: true; least?: number; most?: number }

const hot = (what: string): RatioBar => ({
  ...{ name: `${what}, hot ÷ in memory`, of: [`${what}, hot`, 'masthead'], by: [`${what}, hot`, 'memory'], least: 0.7 },
})
const cold = (what: string): RatioBar => ({
  ...{ name: `${what}, cold ÷ stored bodies`, of: [`${what}, cold`, 'masthead'], by: [`${what}, cold`, 'stored'] },
  least: 0.8,
})
const peer = (workload: string, least: number): RatioBar => ({
  ...{ name: `${workload} ÷ peer`, of: [workload, 'masthead'], by: [workload, 'peer'], least },
})
/** How many times as much a request of the first workload costs us as one of the second. */
const cost = (name: string, of: string, by: string, most: number): RatioBar => ({
  ...{ name, of: [by, 'masthead'], by: [of, 'masthead'], most },
})

const ratioBars: RatioBar[] = [
  hot('get by id'),
  hot('page 1 of 1,000'),
  hot('page 1 of 1,000,000'),
  cold('get by id'),
  cold('page 1 of 1,000'),
  cold('page 1 of 1,000,000'),
  peer('page 1 of 1,000, hot', 5),
  peer('page 1 of 1,000,000, hot', 200),
  peer('rare search, cold', 50),
  cost('page 15,000 costs × page 1', 'page 15,000, cold', 'page 1 of 1,000,000, cold', 1.5),
  {
    ...{ name: 'the same, one by one', by50: true, most: 1.5 },
    of: [`one by one: page ${deepPage.toLocaleString('en')} of 1,000,000`, 'masthead'],
    by: ['one by one: page 1 of 1,000,000', 'masthead'],
  },
  cost('page 1 of 1,000,000 costs × of 1,000', 'page 1 of 1,000,000, cold', 'page 1 of 1,000, cold', 1.3),
  cost('of an account, the same', 'of an account, cold', 'of an account of 1,000, cold', 1.2),
  cost('get by id, the same', 'get by id, cold', 'get by id of 1,000, cold', 1.2),
  cost('delegated token costs × service token', 'delegated token, get by id, hot', 'get by id, hot', 1.3),
  {
    ...{ name: 'create contact, 16 tenants ÷ inserts', least: 0.5 },
    ...{ of: ['create contact, 16 tenants', 'masthead'], by: ['create contact, 16 tenants', 'postgres'] },
  },
]

/** The median of the ratios of each round, whose two slices are seconds apart; a pair of medians may be minutes apart. */
export const ratiosOf = (results: Results): Bar[] => {
  const byName = new Map([...results].map(([{ name }, cells]) => [name, cells]))
  return ratioBars.flatMap(({ name, of, by, by50, least, most }) => {
    const [upper, lower] = [of, by].map(([workload, server]) => byName.get(workload)?.[server])
    if (!upper || !lower) return []
    const value = (slice: Outcome | undefined) => (by50 ? slice?.p50 : slice?.rate) ?? Number.NaN
    const ratio = median(upper.map((slice, round) => value(slice) / value(lower[round])))
    return [{ name, value: ratio, unit: '×' as const, ...(least && { least }), ...(most && { most }) }]
  })
}

export const judge = (bar: Bar): JudgedBar => ({
  ...bar,
  reached: bar.value >= (bar.least ?? 0) && bar.value <= (bar.most ?? Number.POSITIVE_INFINITY),
})
