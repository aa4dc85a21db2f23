import { Command } from 'commander'
import { ownProgram } from '../systemd/service-settings.ts'
import { settingsFile, stateFolder, unitFile, unitText } from '../systemd/unit.ts'
import { action } from './action.ts'
import { faint, showLines, strong } from './output.ts'

type InstallOptions = { print?: boolean; force?: boolean }

export const service = (): Command => {
  const command = new Command('service').description('run Masthead as a systemd service')

  action(
    command
      .command('install')
      .description(
        'write a hardened systemd unit, its settings and its account; run it again after an upgrade. It starts nothing',
      )
      .option('--print', 'only print the unit')
      .option('--force', 'replace a unit that this command did not write'),
    async ({ print = false, force = false }: InstallOptions) => {
      const done: string[] = []
      if (!print) {
        // Only this command needs it.
        const { installService } = await import('../systemd/install.ts')
        await installService({ replace: force }, (line) => done.push(line))
      }
      return { unitFile, settingsFile, dataDirectory: stateFolder, unit: unitText(ownProgram), done }
    },
    ({ unit, done }, { print }) => {
      if (print) return showLines(unit.trimEnd())
      showLines(
        ...done.map((line) => `${line}.`),
        '',
        'Next:',
        `  ${strong('systemctl enable --now masthead')}   ${faint('start it, now and with the machine')}`,
        `  ${strong('sudo masthead')}                     ${faint('what state it is in, and what to do next')}`,
        `  ${strong('journalctl --unit masthead')}        ${faint('its log')}`,
      )
    },
  )

  action(
    command.command('uninstall').description('stop the service and remove its unit; data, settings and account stay'),
    async () => {
      const done: string[] = []
      const { uninstallService } = await import('../systemd/install.ts')
      await uninstallService((line) => done.push(line))
      return { done, kept: [stateFolder, settingsFile] }
    },
    ({ done, kept }) =>
      showLines(
        ...done.map((line) => `${line}.`),
        `The data and settings stay: ${kept.join(', ')}.`,
        faint('`masthead service install` makes it a service again.'),
      ),
  )

  return command
}
