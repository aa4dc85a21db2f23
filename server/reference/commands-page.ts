import type { Argument, Command, Option } from 'commander'
import { buildProgram } from '../src/commands/program.ts'
import { code, link, pageOf, sentence, table } from './markdown.ts'

type Called = { path: string; command: Command }

export const commandsPage = async (): Promise<string> => {
  const [, ...commands] = below(await buildProgram(), [])
  const callable = commands.filter(({ command }) => isCallable(command))
  return pageOf(
    '# Commands',
    '',
    'Run `npx masthead` in the folder of the project, or `masthead` where it is in the path. Every command has `--help`; with `--json` it',
    'prints one JSON document. The exit code is 0 on success; otherwise a line on standard error says what to do. All commands read',
    'the same [configuration](configuration.md), which says where the database is.',
    ...table(
      ['command', 'what it does'],
      callable.map(({ path, command }) => [link(path), command.description()]),
    ),
    ...commands.flatMap(section),
  )
}

const below = (command: Command, path: readonly string[]): Called[] => {
  const own = [...path, command.name()]
  return [{ path: own.join(' '), command }, ...command.commands.flatMap((one) => below(one, own))]
}

/** Others only gather commands. */
const isCallable = (command: Command): boolean =>
  command.commands.length === 0 || command.registeredArguments.length > 0

const section = ({ path, command }: Called): string[] => {
  const heading = command.parent?.parent ? '###' : '##'
  if (!isCallable(command)) return ['', `${heading} ${path}`, '', sentence(command.description())]
  const required = command.options.filter(({ mandatory }) => mandatory)
  const words = [...command.registeredArguments.map(written), ...required.map(({ flags }) => flags)]
  return [
    '',
    `${heading} ${path}`,
    '',
    sentence(command.description()),
    '',
    '```',
    [path, ...words, '[options]'].join(' '),
    '```',
    ...table(
      ['option', 'meaning', 'default'],
      [
        ...command.registeredArguments
          .filter(({ description }) => description)
          .map((argument) => [code(written(argument)), argument.description, 'required']),
        ...command.options.map((option) => [code(option.flags), ...explained(option)]),
      ],
    ),
    ...more(command),
  ]
}

/** What stands after its help. */
const more = (command: Command): string[] => {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  const after = help.slice(command.helpInformation().length).trim()
  return after ? ['', after.replaceAll(/<[^>]+>\S*/g, code)] : []
}

const written = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

/** What is the default by other ways than commander's is said in the description, in the same words. */
const explained = ({ description, argChoices, mandatory, defaultValue }: Option): [string, string] => {
  const [, meaning = '', said = ''] = /^(.*?)(?: \(default: (.*)\))?$/.exec(description) ?? []
  const choices = argChoices ? `: ${argChoices.map(code).join(', ')}` : ''
  const usual = defaultValue === undefined ? said : code(String(defaultValue))
  return [meaning + choices, mandatory ? 'required' : usual]
}
