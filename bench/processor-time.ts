import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const ticksASecond = 100

/**
 * Seconds of processor time that a server and all of PostgreSQL have used so far; not a number where the system is not
 * Linux. Whatever else runs on the machine disturbs it less than it disturbs times.
 */
export const processorTimeOf = (server: number, postmaster: number): number => {
  try {
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
    const processes = [server, postmaster, ...children.map(Number)].map(timesOf)
    // Of the postmaster, what its ended children have used counts too.
    const ticks = processes.reduce((sum, { own }) => sum + own, 0) + (processes[1]?.ofEnded ?? 0)
    return ticks / ticksASecond
  } catch {
    return Number.NaN
  }
}

const timesOf = (pid: number): { own: number; ofEnded: number } => {
  try {
    // The name of the program, in brackets, may hold spaces.
    const [, fields = ''] = /^.*\) (.*)$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').trim()) ?? []
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.split(' ').slice(11, 15).map(Number)
    return { own: user + system, ofEnded: endedUser + endedSystem }
  } catch {
    return { own: 0, ofEnded: 0 }
  }
}
