/** Reads the metrics of a service as Prometheus would. */
export type Sample = { name: string; labels: Record<string, string>; value: number }

export const readMetrics = async (address: string): Promise<Sample[]> => {
  const response = await fetch(address)
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}`)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (value === undefined) throw new Error(`this is no sample: ${line}`)
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text])
    return { name, labels: Object.fromEntries(pairs), value: Number(value) }
  })
}

/** The sum of the samples of this name that carry these labels. */
export const sumOf = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
