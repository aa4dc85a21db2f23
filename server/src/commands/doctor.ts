import { styleText } from 'node:util'
import { Command } from 'commander'
import type { DataDirOption } from '../config.ts'
import type { Finding } from '../doctor/finding.ts'
import { printable } from '../foreign-text.ts'
import { action } from './action.ts'
import { dataDirectoryOption } from './data-directory-option.ts'
import { count, faint, showLines } from './output.ts'

export const doctor = (): Command =>
  action(
    new Command('doctor')
      .description('check configuration, machine and database, and say what to do; changes nothing')
      .addOption(dataDirectoryOption()),
    async (option: DataDirOption) => {
      // Only this command needs the checks and what they import.
      const { examine } = await import('../doctor/doctor.ts')
      const findings = await examine(option)
      const healthy = !findings.some(({ status }) => status === 'failure')
      if (!healthy) process.exitCode = 1
      return { healthy, findings }
    },
    ({ findings }) => showFindings(findings),
  )

const colours = { ok: 'green', warning: 'yellow', failure: 'red' } as const

const showFindings = (findings: readonly Finding[]): void => {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, status, found, todo } of findings) {
    const name = styleText(colours[status], status.padEnd('warning'.length), { stream: process.stdout })
    showLines(`${name}  ${check.padEnd(width)}  ${printable(found)}`)
    for (const line of todo?.split('\n') ?? []) showLines(`${' '.repeat('warning'.length + width + 4)}${faint(line)}`)
  }
  const counted = (wanted: Finding['status']) =>
    count(findings.filter(({ status }) => status === wanted).length, wanted)
  showLines('', `${counted('failure')}, ${counted('warning')}.`)
}
