import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { SMTPServer } from 'smtp-server'

export type ReceivedMail = { from: string; to: string[]; source: string }

/** A mail server of somebody else's that takes every mail, or refuses or takes its time when told to. */
export const startMailReceiver = async () => {
  const mails: ReceivedMail[] = []
  /** Who hands over a mail and waits: for as long as `held` is not settled. */
  const receiver = { mails, isRefusing: false, held: Promise.resolve(), waiting: 0, url: '' }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, _session, done) => {
      receiver.waiting++
      receiver.held.then(() => {
        receiver.waiting--
        done(receiver.isRefusing ? new Error('not today') : null)
      })
    },
    onData: (stream, { envelope }, done) => {
      text(stream).then((source) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), source })
        done()
      }, done)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  after(() => new Promise<void>((done) => server.close(() => done())))
  receiver.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` // it listens on a port
  return receiver
}

/** The address of the invitation in a mail, as its reader sees it. */
export const linkIn = ({ source }: ReceivedMail): string => {
  const readable = source.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const [link] = /http\S+\/oauth2\/invitations\/\S+/.exec(readable) ?? []
  if (!link) throw new Error(`there is no link in ${source}`)
  return link
}
