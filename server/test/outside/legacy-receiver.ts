import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { serviceRole } from '../../src/database/connections/connection.ts'
import { DeliveryWorker } from '../../src/webhooks/delivery-worker.ts'
import { attach } from '../../src/webhooks/legacy/administration.ts'
import { secret as installation, type Service, type TestTenant } from '../service.ts'

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
  answer: Answering
  close: () => Promise<void>
}

/** A legacy system on a loopback address, which checks every signature by the library of Standard Webhooks. */
export const startReceiver = async (): Promise<Receiver> => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const webhook = new Webhook(secret)
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
    ...{ url: `http://127.0.0.1:${address.port}/masthead`, secret, received: [], taken: [], unverified: 0, close },
    answer: () => 204,
  }
  return receiver
}

/** Attaches the receiver to the tenant as `masthead legacy attach` does. */
export const attachTo = (service: Service, tenant: TestTenant, { url, secret }: { url: string; secret: string }) =>
  attach(service.database.forTenant(tenant.id), { url, secret: secret.replace('whsec_', ''), installation })

/** A worker beside the service, as `serve` runs it. */
export const startWorkerFor = (
  service: Service,
  { secret = installation, allowPrivate = true }: { secret?: string; allowPrivate?: boolean } = {},
) => {
  const errors: string[] = []
  const worker = new DeliveryWorker({
    connection: { connectionString: service.connectionString, role: serviceRole },
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
