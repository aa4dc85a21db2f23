import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The memory of a process in bytes: the most it ever had where the system tells, otherwise what it has now. */
export const memoryOf = (pid: number): number => {
  try {
    const [, kibibytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kibibytes) * 1024
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
    return Number(stdout) * 1024 || 0
  }
}
