import { once } from 'node:events'
import { createServer } from 'node:net'

/** Listens for a moment, so it fails as a server would; port 0 stands for any free port. */
export const freePort = async (host: string, port: number): Promise<number> => {
  const probe = createServer().listen(port, host)
  await once(probe, 'listening')
  const address = probe.address()
  await once(probe.close(), 'close')
  return typeof address === 'object' && address ? address.port : port
}
