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

/**
 * The memory of a process and of those that it has begun, in bytes: what they have now. Where the system tells, a page that
 * several of them have counts once.
 */
export const memoryWithChildren = (pid: number): number => {
  try {
    const [, kibibytes = '0'] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + memoryWithChildren(Number(child)), Number(kibibytes) * 1024)
  } catch {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    const sumOf = (parent: number): number =>
      rows.reduce((sum, [id = 0, above, kibibytes = 0]) => {
        if (id === parent) return sum + kibibytes
        return above === parent ? sum + sumOf(id) : sum
      }, 0)
    return sumOf(pid) * 1024
  }
}
