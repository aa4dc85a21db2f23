import type { Mail } from './mailer.ts'

type MailedInvitation = { to: string; tenant: string; invitedBy: string; url: string }

/** The inviter chooses the names in it, so the text says plainly that it comes from Masthead and what the link does. */
export const invitationMail = ({ to, tenant, invitedBy, url }: MailedInvitation): Mail => ({
  to,
  subject: `Invitation to ${oneLine(tenant)} on Masthead`,
  text: `${oneLine(invitedBy)} invites you to join "${oneLine(tenant)}" on Masthead.

Open this link to accept. It works once, for seven days:

${url}

Did you not expect this? Then ignore this mail: without the link nobody can join with your address.
`,
})

const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, 100)
