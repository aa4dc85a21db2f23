import { type Results, summaryOf } from './rounds.ts'

/** What a page costs by the size of its tenant, and by its depth in the largest: both scales are logarithmic. */
export const chartOf = (results: Results): string => {
  const points = [...results].flatMap(([{ charted }, { masthead, express }]) => {
    const [ours, theirs] = [summaryOf(masthead), summaryOf(express)]
    return charted && ours && theirs ? [{ ...charted, masthead: ours.p50, peer: theirs.p50 }] : []
  })
  const largest = Math.max(...points.map(({ rows }) => rows))
  const bySize = points.filter(({ page }) => page === 1).map(({ rows, ...cost }) => ({ ...cost, at: rows }))
  const byDepth = points.filter(({ rows }) => rows === largest).map(({ page, ...cost }) => ({ ...cost, at: page }))
  const costs = points.flatMap(({ masthead, peer }) => [masthead, peer])
  // Whole powers of ten, so that the grid lines are round.
  const scale = {
    least: 10 ** Math.floor(Math.log10(Math.min(...costs))),
    most: 10 ** Math.ceil(Math.log10(Math.max(...costs))),
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="${ink}">
<title>What a page of 50 contacts costs, in milliseconds: Masthead and a peer</title>
${panel(0, 'First page, by the size of the tenant', 'contacts in the tenant', bySize, scale)}
${panel(width / 2, `Any page of ${inWords(largest)} contacts, by its depth`, 'page', byDepth, scale)}
</svg>
`
}

type Point = { at: number; masthead: number; peer: number }
type Scale = { least: number; most: number }

const [width, height] = [960, 400]
const plot = { left: 84, top: 52, width: 350, height: 280 }
/** Readable on white and on black. */
const [ink, grid, ours, theirs] = ['#7d8590', '#7d859040', '#1f8fff', '#f0683c']

const panel = (offset: number, title: string, axis: string, points: Point[], scale: Scale): string => {
  const [first, last] = [points[0]?.at ?? 1, points.at(-1)?.at ?? 10]
  const x = (at: number) => plot.left + (Math.log(at / first) / Math.log(last / first)) * plot.width
  const y = (cost: number) =>
    plot.top + (1 - Math.log(cost / scale.least) / Math.log(scale.most / scale.least)) * plot.height
  const bottom = plot.top + plot.height
  const decades = Array.from(
    { length: Math.round(Math.log10(scale.most / scale.least)) + 1 },
    (_, n) => scale.least * 10 ** n,
  )
  const lines = decades.map(
    (cost) => `<path d="M${plot.left} ${at(y(cost))}h${plot.width}" stroke="${grid}"/>
<text x="${plot.left - 10}" y="${at(y(cost) + 4)}" text-anchor="end">${cost >= 1 ? cost.toLocaleString('en') : cost} ms</text>`,
  )
  const ticks = points.map(
    (point) =>
      `<text x="${at(x(point.at))}" y="${bottom + 22}" text-anchor="middle">${point.at.toLocaleString('en')}</text>`,
  )
  const curve = (name: string, colour: string, select: (point: Point) => number) => {
    const places = points.map((point) => [at(x(point.at)), at(y(select(point)))] as const)
    const [endX] = places.at(-1) ?? [0]
    // Above the last two points, which the name spans.
    const highest = Math.min(...places.slice(-2).map(([, y]) => y))
    const cost = points.at(-1)
    return `<path d="M${places.map((place) => place.join(' ')).join('L')}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linejoin="round"/>
${places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`).join('')}
<text x="${endX}" y="${at(highest - 12)}" text-anchor="end" font-weight="600" fill="${colour}">${name}, ${cost ? rounded(select(cost)) : ''} ms</text>`
  }
  return `<g transform="translate(${offset} 0)">
<text x="${plot.left}" y="26" font-size="15" font-weight="600">${title}</text>
${lines.join('\n')}
${ticks.join('\n')}
<text x="${plot.left + plot.width / 2}" y="${bottom + 46}" text-anchor="middle">${axis}</text>
${curve('Masthead', ours, (point) => point.masthead)}
${curve('Express, TypeORM', theirs, (point) => point.peer)}
</g>`
}

const at = (value: number): number => Math.round(value * 10) / 10
const rounded = (value: number): string => (value >= 10 ? Math.round(value).toLocaleString('en') : value.toFixed(1))
const inWords = (count: number): string => count.toLocaleString('en')
