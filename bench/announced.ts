import { executionAsyncResource } from 'node:async_hooks'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As Masthead does, so that luck with garbage does not decide: docs/decisions/0008-one-tick-is-kept.md */
export const keptTick = await new Promise((keep) => process.nextTick(() => keep(executionAsyncResource())))

/** Listens on a free port of loopback, tells it to the process that started this one, and ends with it. */
export const announced = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo // a port was asked for, not a pipe
    process.send?.({ origin: `http://127.0.0.1:${port}` })
  })
  process.on('disconnect', () => process.exit())
}
