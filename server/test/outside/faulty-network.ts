import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

/** A way to a database server that can fail as networks do. Sockets are real on both sides. */
export type FaultyNetwork = {
  /** The database, reached by this way. */
  connectionString: string
  /** Every connection breaks, also each new one. */
  cut: () => void
  /** Nothing arrives any more, in either direction, and nobody is told. It arrives late once all is mended. */
  swallow: () => void
  /** Connections that are there swallow everything for ever; new ones work. */
  strand: () => void
  /** The connection over which a request with this text comes breaks before it arrives; the others do not. */
  cutBefore: (text: string) => void
  /** From the first request that holds this text on, answers do not arrive over its connection. */
  loseAnswersTo: (text: string) => void
  /** Everything takes so much longer, each way. */
  delay: (milliseconds: number) => void
  /** All but stranded connections work again. */
  mend: () => void
}

type Fault = { cut?: true; swallow?: true; cutBefore?: string; loseAnswersTo?: string; delayMilliseconds?: number }

/** Ends with the test file. */
export const faultyNetwork = async (target: string): Promise<FaultyNetwork> => {
  let fault: Fault = {}
  const connections = new Set<Connection>()
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    const connection = new Connection(caller, connect({ ...addressOf(target), allowHalfOpen: true }), () => {
      connection.end()
      suffer({})
    })
    connections.add(connection)
    caller.once('close', () => connections.delete(connection))
    connection.suffer(fault)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const suffer = (next: Fault) => {
    fault = next
    for (const connection of connections) connection.suffer(next)
  }
  after(() => {
    for (const connection of connections) connection.end()
    server.close()
  })
  const url = new URL(target)
  const { port } = server.address() as AddressInfo // it listens on a port
  url.searchParams.set('host', '127.0.0.1')
  url.searchParams.set('port', `${port}`)
  return {
    connectionString: url.href,
    cut: () => suffer({ cut: true }),
    swallow: () => suffer({ swallow: true }),
    strand: () => {
      for (const connection of connections) connection.strand()
    },
    cutBefore: (text) => suffer({ cutBefore: text }),
    loseAnswersTo: (text) => suffer({ loseAnswersTo: text }),
    delay: (delayMilliseconds) => suffer({ delayMilliseconds }),
    mend: () => suffer({}),
  }
}

/** A connection string of a test names a socket's folder or an address in its query. */
const addressOf = (connectionString: string): { path: string } | { host: string; port: number } => {
  const { searchParams } = new URL(connectionString)
  const [host, port] = [searchParams.get('host') ?? '', searchParams.get('port') ?? '']
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) }
}

class Connection {
  readonly #caller: Socket
  readonly #called: Socket
  #fault: Fault = {}
  #isStranded = false

  constructor(caller: Socket, called: Socket, onCut: () => void) {
    this.#caller = caller
    this.#called = called
    this.#lay(caller, called, (bytes) => {
      const { cutBefore, loseAnswersTo } = this.#fault
      if (cutBefore !== undefined && bytes.includes(cutBefore)) onCut()
      if (loseAnswersTo !== undefined && bytes.includes(loseAnswersTo)) called.pause()
    })
    this.#lay(called, caller, () => {})
  }

  suffer(fault: Fault): void {
    if (this.#isStranded) return
    this.#fault = fault
    if (fault.cut) this.end()
    for (const socket of [this.#caller, this.#called]) {
      // A socket that is not read from does not learn either that the other side has left.
      if (fault.swallow) socket.pause()
      else socket.resume()
    }
  }

  strand(): void {
    this.suffer({ swallow: true })
    this.#isStranded = true
  }

  end(): void {
    this.#caller.resetAndDestroy()
    this.#called.destroy()
  }

  #lay(from: Socket, to: Socket, onBytes: (bytes: Buffer) => void): void {
    let lastDue = 0
    const passOn = (what: () => void) => {
      // Never before what was sent earlier, also when the delay has changed.
      lastDue = Math.max(lastDue, performance.now() + (this.#fault.delayMilliseconds ?? 0))
      const wait = lastDue - performance.now()
      if (wait <= 0) what()
      else setTimeout(what, wait)
    }
    from.on('data', (bytes) => {
      onBytes(bytes)
      passOn(() => to.writable && to.write(bytes))
    })
    from.on('end', () => passOn(() => to.end()))
    from.on('error', () => passOn(() => to.destroy()))
  }
}
