import { dirname } from 'node:path'
import { Refusal } from '../../refusal.ts'
import type { Account } from './privileges.ts'

type OtherMajor = {
  folder: string
  /** The major version of the PostgreSQL that created the folder, and that of the embedded one. */
  found: string
  own: string
  /** The folder of the programs of the embedded PostgreSQL. */
  programs: string
  /** The owner of the folder, when it is not the account of this process. */
  account: Account | undefined
}

/** PostgreSQL reads only folders of its own major version, and the package contains no program that converts one. */
export const refuseOtherMajor = (other: OtherMajor): Refusal => {
  const { folder, found, own } = other
  const facts = `${folder} was made by PostgreSQL ${found}, and this program brings PostgreSQL ${own}`
  if (Number(found) > Number(own)) return new Refusal(`${facts}: run the newer Masthead that made it`)
  return new Refusal(`${facts}, which cannot read it. Nothing was changed. To take the data over:`, {
    steps: takeOver(other),
  })
}

/** Only the log of its server is written to the old folder. */
const takeOver = ({ folder, found, programs, account }: OtherMajor): string[] => {
  const as = account ? '$AS ' : ''
  const options = `-o "-c listen_addresses= -c unix_socket_directories=${socketFolder(`${folder}-${found}`)}"`
  const server = (bin: string, name: string) => ({
    start: `${as}"$${bin}/pg_ctl" start -D "$DATA/${name}" -l "$DATA/${name}/upgrade.log" ${options}`,
    stop: `${as}"$${bin}/pg_ctl" stop -D "$DATA/${name}"`,
    host: options.includes('/tmp') ? '/tmp' : `"$DATA/${name}"`,
    password: `export PGUSER=postgres PGPASSWORD="$(cat "$DATA/${name}/masthead-password")"`,
  })
  const [before, after] = [server('OLD', `postgres-${found}`), server('NEW', 'postgres')]
  const dump = `"$DATA/postgres-${found}.dump"`
  return [
    `# With PostgreSQL ${found} and its tools: on Debian and Ubuntu, apt install postgresql-${found}`,
    '(',
    ...[
      'set -e; umask 077',
      `OLD=/usr/lib/postgresql/${found}/bin`,
      `NEW=${quoted(programs)}`,
      `DATA=${quoted(dirname(folder))}`,
      ...(account ? [`AS="setpriv --reuid=${account.uid} --regid=${account.gid} --clear-groups"`] : []),
      `mv "$DATA/postgres" "$DATA/postgres-${found}"`,
      'MASTHEAD_DATA_DIR="$DATA" npx masthead migrate',
      before.password,
      before.start,
      `"$OLD/pg_dump" -h ${before.host} --format=custom --file=${dump} masthead`,
      before.stop,
      after.password,
      after.start,
      `"$OLD/psql" -h ${after.host} -d postgres -c 'drop database masthead' -c 'create database masthead'`,
      `"$OLD/pg_restore" -h ${after.host} -d masthead --exit-on-error ${dump}`,
      after.stop,
    ].map((line) => `  ${line}`),
    ')',
    `# Then start Masthead as ever. When all is well, delete postgres-${found} and postgres-${found}.dump in that folder.`,
  ]
}

/** The path is relative to the folder of the server, unless the path of a socket there would be too long. */
const socketFolder = (folder: string): string => (Buffer.byteLength(`${folder}/.s.PGSQL.5432`) < 100 ? '.' : '/tmp')

const quoted = (path: string): string => (/^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
