import { existsSync, readdirSync } from 'node:fs'

/** What the trial needs of Debian, and a file by which it is known to be there. */
const files: Record<string, string> = {
  patroni: '/usr/bin/patroni',
  'python3-etcd': '/usr/lib/python3/dist-packages/etcd',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  'redis-server': '/usr/bin/redis-server',
}

const versions = '/usr/lib/postgresql'

/** The programs of the newest PostgreSQL that is installed. */
export const postgresPrograms = (): string => {
  const [newest] = installedVersions().sort((one, other) => Number(other) - Number(one))
  if (newest === undefined) throw new Error('there is no PostgreSQL')
  return `${versions}/${newest}/bin`
}

const installedVersions = (): string[] =>
  existsSync(versions) ? readdirSync(versions).filter((name) => existsSync(`${versions}/${name}/bin/postgres`)) : []

export const missingPackages = (): string[] => [
  ...(installedVersions().length === 0 ? ['postgresql'] : []),
  ...Object.keys(files).filter((name) => !existsSync(files[name] ?? '')),
]
