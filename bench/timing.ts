import { percentile } from './percentiles.ts'

/** A ratio of medians, unless another share is named. */
export type Bar = { name: string; of: string; by: string; share?: number; most?: number; least?: number }

/** Milliseconds by name, and whether their ratios hold. */
export const report = (times: ReadonlyMap<string, readonly number[]>, bars: readonly Bar[]): void => {
  const at = (name: string, share: number): number =>
    percentile(
      [...(times.get(name) ?? [])].sort((a, b) => a - b),
      share,
    )
  const column = (value: number) => value.toFixed(2).padStart(9)
  const lines = [...times.keys()].map(
    (name) => `${name.padEnd(28)} p50 ${column(at(name, 0.5))} ms   p99 ${column(at(name, 0.99))} ms`,
  )
  const ratios = bars.map(({ name, of, by, share = 0.5, most, least }) => {
    const ratio = at(of, share) / at(by, share)
    if (most === undefined && least === undefined) return `${name.padEnd(28)} ${column(ratio)}`
    const holds = ratio <= (most ?? Number.POSITIVE_INFINITY) && ratio >= (least ?? 0)
    const bar = most === undefined ? `at least ${least}` : `at most ${most}`
    return `${name.padEnd(28)} ${column(ratio)}   ${bar.padEnd(12)} ${holds ? 'holds' : 'FALLS SHORT'}`
  })
  process.stdout.write(`${[...lines, '', ...ratios].join('\n')}\n`)
}
