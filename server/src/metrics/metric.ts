/** A metric and its values in the JSON form of prom-client, which sums those of several threads and renders them as text. */
export type Metric = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  aggregator: 'sum' | 'first' | 'omit'
  values: Value[]
}
export type Value = { labels: Record<string, string | number>; value: number }

const metric =
  (type: 'counter' | 'gauge') =>
  (name: string, help: string, values: Value[] | number): Metric => {
    const list = typeof values === 'number' ? [{ labels: {}, value: values }] : values
    return { name, help, type, aggregator: 'sum', values: list }
  }

export const counter = metric('counter')
export const gauge = metric('gauge')

/** One value for each entry; its key becomes the value of the label. */
export const valuesBy = (label: string, counts: Record<string, number>, labels: Value['labels'] = {}): Value[] =>
  Object.entries(counts).map(([key, value]) => ({ labels: { ...labels, [label]: key }, value }))
