import type { Transporter } from 'nodemailer'
import { FairLanes } from '../database/fair-lanes.ts'
import { lazily } from '../lazily.ts'
import { Problem } from '../problem.ts'

/** The mail server of the operator, and the sender that it knows. */
export type MailOptions = { smtpUrl: string; from: string }

export type Mail = { to: string; subject: string; text: string }

const timeoutMilliseconds = 10_000
/** Whoever waits for a mail may hold a connection to the database meanwhile, so a mail server that hangs may not have many. */
const atOnce = 2

/** Hands mails to the operator's mail server. */
export class Mailer {
  readonly #from: string
  readonly #onError: (error: unknown) => void
  readonly #transport: () => Promise<Transporter>
  readonly #lanes = new FairLanes(atOnce, atOnce, timeoutMilliseconds)

  constructor({ smtpUrl, from }: MailOptions, onError: (error: unknown) => void) {
    this.#from = from
    this.#onError = onError
    this.#transport = lazily(() => openTransport(smtpUrl))
  }

  /** Returns when the mail server has taken it. */
  async send({ to, subject, text }: Mail): Promise<void> {
    try {
      const transport = await this.#transport()
      // An address as an object is one address, whatever commas it holds.
      await this.#lanes.run('', () =>
        transport.sendMail({ from: this.#from, to: { name: '', address: to }, subject, text }),
      )
    } catch (error) {
      this.#onError(error)
      throw new Problem('unavailable', 'The mail server did not take the mail, so nothing was done.', {
        headers: { 'retry-after': '10' },
      })
    }
  }
}

/** Loaded with the first mail, so that nobody else waits for it. */
export const openTransport = async (smtpUrl: string): Promise<Transporter> => {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url: smtpUrl,
    connectionTimeout: timeoutMilliseconds,
    greetingTimeout: timeoutMilliseconds,
    socketTimeout: timeoutMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
