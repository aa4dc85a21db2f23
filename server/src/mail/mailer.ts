import type { Transporter } from 'nodemailer'
import { FairQueue } from '../database/fair-queue.ts'
import { lazily } from '../lazily.ts'
import { unavailable } from '../problem.ts'

/** The mail server of the operator, and the sender that it knows. */
export type MailOptions = { smtpUrl: string; from: string }

export type Mail = { to: string; subject: string; text: string }

/** Resolves when the mail server has accepted the mail. */
export type SendMail = (mail: Mail) => Promise<void>

const timeoutMilliseconds = 10_000
/** A caller may hold a database connection meanwhile, so a mail server that hangs must not block many. */
const atOnce = 2

export const mailSender = ({ smtpUrl, from }: MailOptions, onError: (reason: string) => void): SendMail => {
  const openedTransport = lazily(() => openTransport(smtpUrl))
  const queue = new FairQueue(atOnce, atOnce, timeoutMilliseconds)
  return async ({ to, ...mail }) => {
    try {
      const transport = await openedTransport()
      // An object is one address, whatever commas it holds.
      await queue.run('', () => transport.sendMail({ ...mail, from, to: { name: '', address: to } }))
    } catch (error) {
      // The message may name the recipient, so only the codes are reported.
      const { code, responseCode } = error as { code?: string; responseCode?: number } // as nodemailer's errors have them
      onError([code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown')
      throw unavailable('The mail server rejected the message. No invitation was created.', 10)
    }
  }
}

/** The library is loaded with the first mail. */
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
