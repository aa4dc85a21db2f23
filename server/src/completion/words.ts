import type { Argument, Command, Option } from 'commander'

/** What can follow: words of a list, files, folders, or something that nobody knows. */
export type Values = readonly string[] | 'files' | 'folders' | 'unknown'

export type Flag = { flags: readonly string[]; description: string; values: Values | null }

/** A command with all that can be typed after it. `path` are the words that lead to it, without the name of the program. */
export type Completed = {
  path: string
  commands: readonly { name: string; description: string }[]
  flags: readonly Flag[]
  values: Values
}

export const completedCommands = (command: Command, path: readonly string[] = []): Completed[] => {
  const isRoot = path.length === 0
  const help: Flag = { flags: ['--help', '-h'], description: 'how it is used', values: null }
  const own = {
    path: path.join(' '),
    commands: command.commands.map((below) => ({ name: below.name(), description: below.description() })),
    flags: [
      ...command.options.map(flagOf),
      ...(isRoot ? [{ ...help, flags: ['--json'], description: 'as JSON' }] : []),
      help,
    ],
    values: command.registeredArguments[0] ? valuesOf(command.registeredArguments[0]) : [],
  }
  return [own, ...command.commands.flatMap((below) => completedCommands(below, [...path, below.name()]))]
}

const flagOf = ({ long, short, description, required, optional, argChoices, flags }: Option): Flag => ({
  flags: [long, short].flatMap((flag) => flag ?? []),
  description,
  values: required || optional ? (argChoices ?? kindOf(flags)) : null,
})

const valuesOf = (argument: Argument): Values => argument.argChoices ?? kindOf(`<${argument.name()}>`)

/** The name of a value tells whether it is a file. */
const kindOf = (flags: string): Values => {
  if (/<(file|map|paths)(\.\.\.)?>/.test(flags)) return 'files'
  return /<folder>/.test(flags) ? 'folders' : 'unknown'
}

/** The words by which a path gets longer, for a `case`: `tenant create` is that of `tenant` and the word `create`. */
export const stepsOf = (commands: readonly Completed[]): string[] =>
  commands.flatMap(({ path }) => (path === '' ? [] : path.includes(' ') ? path : ` ${path}`))

/** The cases of a `case` that offer the values of an option, after it. */
export const valueCases = (commands: readonly Completed[], offer: (values: Values) => string): string =>
  commands
    .flatMap(({ path, flags }) =>
      flags.flatMap(({ flags: names, values }) =>
        values === null
          ? []
          : `    ${names.map((name) => inQuotes(`${path}:${name}`)).join(' | ')}) ${offer(values)}; return ;;`,
      ),
    )
    .join('\n')

export const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
