import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { type WebhookEventType, webhookEventTypes } from '@masthead/contract'
import { Webhook } from 'standardwebhooks'
import { operator } from '../../src/audit/author.ts'
import { serviceRole } from '../../src/database/connections/address.ts'
import { create } from '../../src/webhooks/administration.ts'
import { wakeWhereDue } from '../../src/webhooks/deliveries/queries.ts'
import { DeliveryWorker } from '../../src/webhooks/delivery-worker.ts'
import { attach } from '../../src/webhooks/legacy/administration.ts'
import { secret as installation, isSharded, type Service, type TestTenant } from '../service.ts'

export type Message = { type: string; timestamp: string; data: Record<string, unknown> & { id: string } }
export type Received = { id: string; headers: Record<string, string>; text: string; message: Message; at: number }
/** Says how a delivery is answered; what returns nothing has answered itself, or never does. */
export type Answering = (received: Received, response: ServerResponse) => number | undefined

export type Receiver = {
  url: string
  secret: string
  /** Every delivery that arrived with a right signature, in order, also those that were then refused. */
  received: Received[]
  /** Those that the service was told we have. */
  taken: Received[]
  unverified: number
  /** Makes this secret the one that signatures are checked with. */
  trust: (secret: string) => void
  answer: Answering
  close: () => Promise<void>
}

/** A legacy system on a loopback address, which checks every signature by the library of Standard Webhooks. */
export const startReceiver = async (): Promise<Receiver> => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  let webhook = new Webhook(secret)
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '')
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    try {
      const message = webhook.verify(body, headers) as Message // what the tests then assert
      const received = { id: headers['webhook-id'] ?? '', headers, text: body, message, at: Date.now() }
      receiver.received.push(received)
      const status = receiver.answer(received, response)
      if (status === undefined) return
      if (status < 300) receiver.taken.push(received)
      response.writeHead(status).end()
    } catch {
      receiver.unverified++
      response.writeHead(401).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver does not listen on a port')
  const close = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((closed) => server.close(closed))
  }
  after(close)
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/masthead`,
    secret,
    received: [],
    taken: [],
    unverified: 0,
    close,
    answer: () => 204,
    trust: (secret) => {
      receiver.secret = secret
      webhook = new Webhook(secret)
    },
  }
  return receiver
}

/** Attaches the receiver to the tenant as `masthead legacy attach` does. */
export const attachTo = (service: Service, tenant: TestTenant, { url, secret }: { url: string; secret: string }) =>
  attach(service.database.forTenant(tenant.id), { url, secret: secret.replace('whsec_', ''), installation })

/** Makes the receiver a webhook endpoint of the tenant, as an admin does. */
export const subscribe = async (
  service: Service,
  tenant: TestTenant,
  receiver: Receiver,
  events: readonly WebhookEventType[] = webhookEventTypes,
) => {
  const made = await create(
    { tenant: service.database.forTenant(tenant.id), author: operator },
    { url: receiver.url, events, description: '' },
    installation,
  )
  receiver.trust(made.secret)
  return made
}

/**
 * A clock of the test's own: everything that is stored of the tenant's webhooks becomes so much older, which is the same as if that time
 * had passed.
 */
export const letPass = async (service: Service, tenant: TestTenant, interval: string): Promise<void> => {
  const earlier = (columns: readonly string[]) =>
    columns.map((name) => `${name} = ${name} - interval '${interval}'`).join(', ')
  const columns = {
    webhook_endpoints: [
      'created_at',
      'disabled_at',
      'failing_since',
      'resumes_at',
      'rests_until',
      'former_secret_until',
    ],
    webhook_events: ['created_at'],
    webhook_deliveries: ['waiting_since', 'next_attempt_at', 'claimed_until', 'tried_at', 'failed_at', 'settled_at'],
  }
  for (const [table, names] of Object.entries(columns)) {
    const update = (which: string) => `update ${which} set ${earlier(names)} where tenant_id = '${tenant.id}'`
    // Citus takes no time of a row minus an interval, but the servers of its shards do.
    if (isSharded) await service.owner.query('select run_command_on_shards($1, $2)', [table, update('%s')])
    else await service.owner.query(update(table))
  }
  // A sweep would find what has become due within seconds.
  await wakeWhereDue(service.database)
}

/** A worker beside the service, as `serve` runs it. */
export const startWorkerFor = (
  service: Service,
  { secret = installation, allowPrivate = true }: { secret?: string; allowPrivate?: boolean } = {},
) => {
  const errors: string[] = []
  const worker = new DeliveryWorker({
    connection: { connectionString: service.connectionString, role: serviceRole, isSharded },
    secret: async () => secret,
    allowPrivate,
    onError: (message) => errors.push(message),
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= worker.stop()
    return stopped
  }
  after(stop)
  return { errors, stop }
}
