import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { newClient } from '../../src/database/connections/connection.ts'
import { until } from '../processes/masthead-process.ts'
import { postgresPrograms } from './packages.ts'
import { freePorts, type Programs } from './programs.ts'

/** One of three servers: PostgreSQL, and Patroni that decides what it is. */
export type Member = { name: string; postgresPort: number; patroniPort: number }

type MemberState = { name: string; role: string; state: string }

const superuser = { username: 'postgres', password: randomBytes(12).toString('hex') }
const owner = { username: 'masthead', password: randomBytes(12).toString('hex') }
/** A table beside Masthead's, for writes past it. */
const probeTable = 'past_masthead'

/** Three members, etcd in which they vote, and HAProxy, which leads to the primary; and Redis. All on loopback. */
export class Cluster {
  readonly members: readonly Member[]
  readonly #programs: Programs
  readonly #proxyPort: number
  readonly #redisPort: number

  private constructor(programs: Programs, members: readonly Member[], proxyPort: number, redisPort: number) {
    this.#programs = programs
    this.members = members
    this.#proxyPort = proxyPort
    this.#redisPort = redisPort
  }

  static async start(programs: Programs, { synchronous }: { synchronous: boolean }): Promise<Cluster> {
    const [proxyPort = 0, redisPort = 0, ...others] = await freePorts(14)
    const [postgresPorts, patroniPorts, clientPorts, peerPorts] = [0, 3, 6, 9].map((from) =>
      others.slice(from, from + 3),
    ) as [number[], number[], number[], number[]] // four parts
    startEtcd(programs, clientPorts, peerPorts)
    const members = postgresPorts.map((postgresPort, index) => ({
      name: `member-${index + 1}`,
      postgresPort,
      patroniPort: patroniPorts[index] ?? 0,
    }))
    for (const member of members) {
      const configuration = patroniConfiguration(programs.folder, member, clientPorts, synchronous)
      writeFileSync(join(programs.folder, `${member.name}.yml`), JSON.stringify(configuration), { mode: 0o644 })
    }
    writeFileSync(join(programs.folder, 'haproxy.cfg'), proxyConfiguration(proxyPort, members))
    const cluster = new Cluster(programs, members, proxyPort, redisPort)
    for (const member of members) cluster.startPatroni(member)
    programs.start('haproxy', '/usr/sbin/haproxy', ['-db', '-f', 'haproxy.cfg'])
    const redis = ['--port', `${redisPort}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    programs.start('redis', '/usr/bin/redis-server', redis)
    await cluster.whole(120_000)
    await cluster.#makeDatabase()
    return cluster
  }

  get databaseUrl(): string {
    return `postgres://${owner.username}:${owner.password}@127.0.0.1:${this.#proxyPort}/masthead`
  }

  get redisUrl(): string {
    return `redis://127.0.0.1:${this.#redisPort}`
  }

  startPatroni({ name }: Member): void {
    this.#programs.start(name, '/usr/bin/patroni', [`${name}.yml`])
  }

  /** Patroni, PostgreSQL and all that belongs to it, as if the machine were gone or froze. */
  signal({ name }: Member, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#programs.signal([this.#programs.pid(name), ...this.#programs.postgres(dataFolder(name))], signal)
  }

  async primary(): Promise<Member> {
    const states = await this.#states()
    const leader = states.find(({ role }) => role === 'leader')
    const member = this.members.find(({ name }) => name === leader?.name)
    if (!member) throw new Error('there is no primary')
    return member
  }

  /** A primary, and the other two replicate from it. */
  async whole(milliseconds = 60_000): Promise<void> {
    await until(
      'a primary with two standbys',
      async () => {
        const states = await this.#states().catch(() => [])
        const follow = states.filter(({ role, state }) => role !== 'leader' && /^(streaming|running)$/.test(state))
        return states.some(({ role, state }) => role === 'leader' && state === 'running') && follow.length === 2
      },
      milliseconds,
    )
  }

  async isStandby({ patroniPort }: Member): Promise<boolean> {
    return (await fetchQuickly(`http://127.0.0.1:${patroniPort}/replica`))?.status === 200
  }

  /** As the superuser: through HAProxy, or straight to a member. */
  async ask(statement: string, port = this.#proxyPort, database = 'masthead'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ ...connectionTo(port, database), query_timeout: 2_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(statement)).rows
    } finally {
      // Not waited for: a server that hangs does not answer it.
      client.end().catch(() => {})
    }
  }

  /** The same, for what takes longer. */
  async owner(): Promise<pg.Client> {
    const client = newClient(connectionTo(this.#proxyPort, 'masthead'))
    await client.connect()
    return client
  }

  /** Whether a write straight to a member is confirmed. */
  async takesWrites({ postgresPort }: Member): Promise<boolean> {
    return this.ask(`insert into ${probeTable} values (now())`, postgresPort, 'postgres').then(
      () => true,
      () => false,
    )
  }

  /** So that it has confirmed what no other member has; only an asynchronous cluster confirms anything then. */
  async holdReplicationBack(): Promise<void> {
    const senders = await this.ask('select pid from pg_stat_replication')
    this.#programs.signal(
      senders.map(({ pid }) => Number(pid)),
      'SIGSTOP',
    )
  }

  async #makeDatabase(): Promise<void> {
    const { username, password } = owner
    await this.ask(`create role ${username} login password '${password}'`, this.#proxyPort, 'postgres')
    await this.ask(`create database masthead owner ${username}`, this.#proxyPort, 'postgres')
    await this.ask(`create table ${probeTable} (at timestamptz)`, this.#proxyPort, 'postgres')
  }

  async #states(): Promise<MemberState[]> {
    for (const { patroniPort } of this.members) {
      const response = await fetchQuickly(`http://127.0.0.1:${patroniPort}/cluster`)
      if (response?.status !== 200) continue
      const { members } = (await response.json()) as { members: MemberState[] } // as Patroni documents it
      return members
    }
    throw new Error('no member of the cluster answers')
  }
}

const dataFolder = (name: string): string => `${name}-data`

const connectionTo = (port: number, database: string): pg.ClientConfig => ({
  host: '127.0.0.1',
  port,
  database,
  user: superuser.username,
  password: superuser.password,
  connectionTimeoutMillis: 2_000,
})

const fetchQuickly = (address: string): Promise<Response | null> =>
  fetch(address, { signal: AbortSignal.timeout(1_000) }).catch(() => null)

const startEtcd = (programs: Programs, clientPorts: readonly number[], peerPorts: readonly number[]): void => {
  const peers = peerPorts.map((port, index) => `etcd-${index + 1}=http://127.0.0.1:${port}`).join(',')
  for (const [index, clientPort] of clientPorts.entries()) {
    const name = `etcd-${index + 1}`
    const [client, peer] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPorts[index]}`]
    programs.start(name, '/usr/bin/etcd', [
      '--name',
      name,
      '--data-dir',
      `${name}-data`,
      '--log-level',
      'warn',
      '--enable-v2',
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      peers,
    ])
  }
}

/** The settings of docs/operating.md. JSON is YAML too. */
const patroniConfiguration = (folder: string, member: Member, etcdPorts: readonly number[], synchronous: boolean) => ({
  scope: 'masthead',
  name: member.name,
  restapi: { listen: `127.0.0.1:${member.patroniPort}`, connect_address: `127.0.0.1:${member.patroniPort}` },
  // Not etcd3: with it the Patroni of Debian 12, 3.0.2, overwrites the vote of the others when it thaws.
  etcd: { hosts: etcdPorts.map((port) => `127.0.0.1:${port}`) },
  bootstrap: {
    dcs: {
      ttl: 10,
      loop_wait: 2,
      retry_timeout: 3,
      primary_start_timeout: 0,
      synchronous_mode: synchronous,
      synchronous_mode_strict: synchronous,
      failsafe_mode: true,
      // Only where loss is looked for may a member that lags be promoted.
      maximum_lag_on_failover: synchronous ? 1_048_576 : 1_073_741_824,
      postgresql: {
        use_pg_rewind: true,
        parameters: { max_connections: 200, wal_sender_timeout: '5s', wal_receiver_timeout: '5s', wal_log_hints: 'on' },
      },
    },
    initdb: [{ encoding: 'UTF8' }, 'data-checksums', { locale: 'C.UTF-8' }],
    pg_hba: ['host replication replicator 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256'],
  },
  postgresql: {
    listen: `127.0.0.1:${member.postgresPort}`,
    connect_address: `127.0.0.1:${member.postgresPort}`,
    data_dir: join(folder, dataFolder(member.name)),
    bin_dir: postgresPrograms(),
    pgpass: join(folder, `${member.name}.pgpass`),
    authentication: {
      superuser,
      replication: { username: 'replicator', password: superuser.password },
      rewind: { username: 'rewind', password: superuser.password },
    },
    // A trial of minutes needs little memory; sockets lie in a folder that is short and ours.
    parameters: { shared_buffers: '64MB', unix_socket_directories: folder },
  },
})

const proxyConfiguration = (port: number, members: readonly Member[]): string => `
defaults
  mode tcp
  timeout connect 1s
  timeout client 30m
  timeout server 30m
  timeout check 1s
  retries 0
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${members.map(({ name, postgresPort, patroniPort }) => `  server ${name} 127.0.0.1:${postgresPort} check port ${patroniPort}`).join('\n')}
`
