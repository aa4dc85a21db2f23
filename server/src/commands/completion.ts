import { Argument, Command } from 'commander'
import { programName } from '../config.ts'
import { action } from './action.ts'
import { say, showLines } from './output.ts'

/** How a script is made and where it goes; `file` is created with its folder. */
const shells = {
  bash: {
    load: async () => (await import('../completion/bash.ts')).bashScript,
    folder: '~/.local/share/bash-completion/completions',
    file: 'masthead',
  },
  zsh: {
    load: async () => (await import('../completion/zsh.ts')).zshScript,
    folder: '~/.zsh',
    file: 'masthead.zsh',
    after: `echo 'source ~/.zsh/masthead.zsh' >> ~/.zshrc`,
  },
  fish: {
    load: async () => (await import('../completion/fish.ts')).fishScript,
    folder: '~/.config/fish/completions',
    file: 'masthead.fish',
  },
}
type Shell = keyof typeof shells

const installLine = (shell: Shell): string => {
  const { folder, file, ...more } = shells[shell]
  const line = `mkdir -p ${folder} && ${programName()} completion ${shell} > ${folder}/${file}`
  return 'after' in more ? `${line} && ${more.after}` : line
}

/** The program must be complete, since the script names all of its commands. */
export const completion = (): Command => {
  const command = new Command('completion')
  return action(
    command
      .description('print a script that lets a shell complete commands, options and files')
      .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells))),
    async (shell: Shell) => {
      const [script, { completedCommands }] = [await shells[shell].load(), await import('../completion/words.ts')]
      const program = command.parent
      if (!program) throw new Error('completion is a command of the program')
      return { shell, script: script(completedCommands(program)), install: installLine(shell) }
    },
    ({ script, install }) => {
      showLines(script.trimEnd())
      if (process.stdout.isTTY) say(`To install it: ${install}, and open a new shell.`)
    },
  )
}
