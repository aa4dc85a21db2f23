import { readFile, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { folderTrouble } from '../data-folder.ts'
import { type Check, failure, ok, warning } from './finding.ts'

export const machineChecks = (config: Config): Record<string, Check> => ({
  'data folder': () => checkFolder(config),
  disk: () => checkDisk(config),
  'open files': checkOpenFiles,
})

const checkFolder = async ({ dataDirectory, databaseUrl, secret }: Config) => {
  const folder = resolve(dataDirectory)
  if (databaseUrl !== null && secret !== null) return ok('not used: DATABASE_URL and MASTHEAD_SECRET are set')
  const trouble = await folderTrouble(folder)
  if (trouble) return failure(trouble.found, trouble.todo)
  if (await stat(folder).catch(() => null)) return ok(`${folder} can be written to`)
  return ok(`${folder} is not there yet${databaseUrl === null ? ': the first start makes it' : ''}`)
}

const [scarceBytes, tooFewBytes] = [2_000_000_000, 200_000_000]

const checkDisk = async ({ dataDirectory }: Config) => {
  // The log may have been moved to a disk of its own.
  const places = [dataDirectory, join(dataDirectory, 'postgres/pg_wal')]
  const disks = await Promise.all(places.map((place) => statfs(place).catch(() => null)))
  const free = Math.min(...disks.flatMap((disk) => (disk ? [disk.bavail * disk.bsize] : [])))
  if (free === Number.POSITIVE_INFINITY) return ok('nothing is kept yet')
  const found = `${Math.floor(free / 1_000_000).toLocaleString('en-US')} MB are free for ${resolve(dataDirectory)}`
  const todo = 'make room, or move the folder to a larger disk: a full disk stops every write'
  if (free < tooFewBytes) return failure(found, todo)
  return free < scarceBytes ? warning(found, todo) : ok(found)
}

const fewestFiles = 4_096

const checkOpenFiles = async () => {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files +(\w+)/m.exec(limits) ?? []
  if (limit === undefined) return ok('this system does not tell how many there may be')
  if (limit === 'unlimited' || Number(limit) >= fewestFiles) return ok(`${limit} may be open at once`)
  return warning(
    `${limit} may be open at once, and each connection is one`,
    'raise it: `ulimit -n 65536`, or LimitNOFILE=65536 in the systemd unit',
  )
}
