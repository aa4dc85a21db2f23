import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import { csvLine } from '../files/csv-rows.ts'
import { type DemoOptions, demoData } from './demo-data.ts'

/** Demo data of any size as files to import. */
export const writeDemoFiles = async (
  folder: string,
  { onRecords, signal, ...options }: DemoOptions & { onRecords: (count: number) => void; signal: AbortSignal },
): Promise<void> => {
  const files = new Map<ResourceName, WriteStream>()
  let count = 0
  for (const { resource, record } of demoData(options)) {
    const file = files.get(resource) ?? openFile(folder, resource)
    files.set(resource, file)
    const values: Record<string, unknown> = record
    const isFull = !file.write(csvLine(storedFieldsOf(resource).map(({ name }) => cellOf(values[name]))))
    if (++count % 1_000 === 0) {
      signal.throwIfAborted()
      onRecords(count)
    }
    if (isFull) await once(file, 'drain')
  }
  for (const file of files.values()) await once(file.end(), 'close')
}

const openFile = (folder: string, resource: ResourceName): WriteStream => {
  const file = createWriteStream(join(folder, `${resource}.csv`))
  file.write(csvLine(storedFieldsOf(resource).map(({ name }) => name)))
  return file
}

const cellOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
