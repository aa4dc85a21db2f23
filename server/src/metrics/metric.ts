/** A measure and its values, as prom-client has them in JSON: it sums those of several threads and writes them as text. */
export type Metric = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  aggregator: 'sum' | 'first' | 'omit'
  values: Value[]
}
export type Value = { labels: Record<string, string | number>; value: number; metricName?: string }

const metric =
  (type: Metric['type']) =>
  (name: string, help: string, values: Value[] | number): Metric => ({
    ...{ name, help, type, aggregator: 'sum' },
    values: typeof values === 'number' ? [{ labels: {}, value: values }] : values,
  })

export const counter = metric('counter')
export const gauge = metric('gauge')
export const histogram = metric('histogram')
