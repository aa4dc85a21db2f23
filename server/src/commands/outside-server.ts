import { setTimeout as delay } from 'node:timers/promises'
import { isUnavailable } from '../database/unavailable.ts'
import { messageOf, say } from './output.ts'

const patienceMilliseconds = 30_000
const pauseMilliseconds = 500

/** A server of the operator may come up after us, as in a composition of containers: what it refuses meanwhile is tried again. */
export const onceItAnswers = async <T>(attempt: () => Promise<T>, stopping: AbortSignal): Promise<T> => {
  let said = ''
  for (const deadline = Date.now() + patienceMilliseconds; ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (!mayComeUp(error) || stopping.aborted || Date.now() > deadline) throw error
      const reason = messageOf(error)
      if (reason !== said) say(`Waiting up to ${patienceMilliseconds / 1_000} s for the database: ${reason}`)
      said = reason
      await delay(pauseMilliseconds, undefined, { signal: stopping }).catch(() => {})
    }
  }
}

/** Names and routes come up with the machines that they lead to. */
const notThereYet = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])

const mayComeUp = (error: unknown): boolean => isUnavailable(error) || notThereYet.has(codeOf(error))

export const whyUnusable = (error: unknown): Error => {
  const remedy = remedies[codeOf(error)]
  const why = `the database of DATABASE_URL cannot be used: ${messageOf(error)}`
  return new Error(remedy ? `${why}; ${remedy}` : why, { cause: error })
}

const remedies: Record<string, string> = {
  '28P01': 'check the user and the password in DATABASE_URL',
  '28000': 'check the user in DATABASE_URL, and that pg_hba.conf of the server lets it in from here',
  '3D000': `create it: create database … template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8'`,
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
