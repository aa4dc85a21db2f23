import { once } from 'node:events'
import { connect } from 'node:net'

/** How long a connection may stay silent before whoever sent something ends its side, and after that. */
const timeoutMilliseconds = { listening: 60, ending: 50_000 }

/** Sends bytes over a connection of their own, and hears everything that comes back until both sides have ended. */
export const exchangeBytes = async (origin: string, bytes: Uint8Array): Promise<string> => {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port) })
  const heard: Buffer[] = []
  // It may be closed while we still write.
  socket.on('error', () => {})
  socket.on('data', (data) => heard.push(data))
  socket.setTimeout(timeoutMilliseconds.listening, () => {
    socket.setTimeout(timeoutMilliseconds.ending, () => socket.destroy(new Error('it stays silent')))
    socket.end()
  })
  socket.write(bytes)
  await once(socket, 'close')
  if (socket.errored?.message === 'it stays silent') throw socket.errored
  return Buffer.concat(heard).toString('latin1')
}
