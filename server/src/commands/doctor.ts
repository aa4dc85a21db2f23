import { styleText } from 'node:util'
import { Command } from 'commander'
import type { Finding } from '../doctor/finding.ts'
import { printable } from '../foreign-text.ts'
import { dataDirectoryOption } from './options.ts'
import { faint, showJson, showLines } from './output.ts'

type DoctorOptions = { dataDir?: string; json?: true }

export const doctor = (): Command =>
  new Command('doctor')
    .description('examine configuration, machine and database, and say what to do; changes nothing')
    .addOption(dataDirectoryOption())
    .option('--json', 'answer one JSON document')
    .action(async (options: DoctorOptions) => {
      // Loaded here, so that the other commands start in less time.
      const { examine } = await import('../doctor/doctor.ts')
      const findings = await examine(options.dataDir)
      const failures = count(findings, 'failure')
      if (options.json) showJson({ healthy: failures === 0, findings })
      else showFindings(findings)
      if (failures > 0) process.exitCode = 1
    })

const count = (findings: readonly Finding[], wanted: Finding['status']): number =>
  findings.filter(({ status }) => status === wanted).length

const colours = { ok: 'green', warning: 'yellow', failure: 'red' } as const

const showFindings = (findings: readonly Finding[]): void => {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, status, found, todo } of findings) {
    const name = styleText(colours[status], status.padEnd('warning'.length), { stream: process.stdout })
    showLines(`${name}  ${check.padEnd(width)}  ${printable(found)}`)
    for (const line of todo?.split('\n') ?? []) showLines(`${' '.repeat('warning'.length + width + 4)}${faint(line)}`)
  }
  showLines('', `${plural(count(findings, 'failure'), 'failure')}, ${plural(count(findings, 'warning'), 'warning')}.`)
}

const plural = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
