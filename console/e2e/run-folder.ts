import { readdir } from 'node:fs/promises'

/** Runs the test files of a folder one after another in this process, so that they share a service and its start. */
export const runFolder = async (folder: URL): Promise<void> => {
  for (const file of (await readdir(folder)).sort()) await import(new URL(file, folder).href)
}
