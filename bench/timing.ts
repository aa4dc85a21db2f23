export type Workload = { name: string; measure: () => Promise<unknown> /** only in every n-th round */; every?: number }
export type Bar = { name: string; of: string; by: string; most?: number; least?: number }

/** All workloads take turns, so that their ratios hold on a noisy machine. */
export const measure = async (workloads: Workload[], rounds: number): Promise<Map<string, number[]>> => {
  const times = new Map<string, number[]>(workloads.map(({ name }) => [name, []]))
  for (let round = -20; round < rounds; round++) {
    for (const { name, measure, every = 1 } of workloads) {
      if (round % every !== 0) continue
      const start = performance.now()
      await measure()
      if (round >= 0) times.get(name)?.push(performance.now() - start)
    }
  }
  return times
}

export const report = (times: Map<string, number[]>, bars: Bar[]): void => {
  const percentile = (name: string, share: number): number => {
    const sorted = [...(times.get(name) ?? [])].sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  }
  const column = (value: number) => value.toFixed(2).padStart(9)
  const lines = [...times.keys()].map(
    (name) => `${name.padEnd(28)} p50 ${column(percentile(name, 0.5))} ms   p99 ${column(percentile(name, 0.99))} ms`,
  )
  const ratios = bars.map(({ name, of, by, most, least }) => {
    const ratio = percentile(of, 0.5) / percentile(by, 0.5)
    const holds = ratio <= (most ?? Number.POSITIVE_INFINITY) && ratio >= (least ?? 0)
    const bar = most === undefined ? `at least ${least}` : `at most ${most}`
    return `${name.padEnd(28)} ${column(ratio)}   ${bar.padEnd(12)} ${holds ? 'holds' : 'FALLS SHORT'}`
  })
  process.stdout.write(`${[...lines, '', ...ratios].join('\n')}\n`)
}
