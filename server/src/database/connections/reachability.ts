import { codeOf } from '../../error-message.ts'

const remedies: Record<string, string> = {
  '28P01': 'check the user and the password in DATABASE_URL',
  '28000': 'check the user in DATABASE_URL, and that pg_hba.conf of the server lets it in from here',
  '3D000': `create it: create database … template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8'`,
}

export const usualRemedy = 'see that the server runs, and that it can be reached from this machine'

/** What to do about a server of the operator that cannot be used, where that is known. */
export const remedyFor = (error: unknown): string | undefined => remedies[codeOf(error)]
