import type { Config } from '../config.ts'
import { messageOf } from '../error-message.ts'
import { openTransport } from '../mail/mailer.ts'
import { type Check, failure, ok } from './finding.ts'

export const mailChecks = ({ mail }: Config): Record<string, Check> =>
  mail === null ? {} : { mail: () => checkMail(mail.smtpUrl) }

const checkMail = async (smtpUrl: string) => {
  const transport = await openTransport(smtpUrl)
  try {
    await transport.verify()
    return ok('the mail server of SMTP_URL answers')
  } catch (error) {
    return failure(
      `the mail server of SMTP_URL does not answer: ${messageOf(error)}`,
      'see that it runs, that it can be reached from this machine, and that it takes the name and password of SMTP_URL',
    )
  } finally {
    transport.close()
  }
}
