import { type Completed, type Flag, stepsOf, type Values } from './words.ts'

export const fishScript = (commands: readonly Completed[]): string => `# Completion of masthead for fish.
function __masthead_at
    set -l place ''
    for word in (commandline -opc)[2..-1]
        switch "$place $word"
            case ${stepsOf(commands).map(quoted).join(' ')}
                set place (string trim -- "$place $word")
        end
    end
    test "$place" = "$argv[1]"
end
complete -c masthead -f
${commands.flatMap(linesOf).join('\n')}
`

const linesOf = ({ path, commands, flags, values }: Completed): string[] => {
  const at = `complete -c masthead -n ${quoted(`__masthead_at ${quoted(path)}`)}`
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...(values.length > 0 && values !== 'unknown' ? [`${at} ${offer(values)}`] : []),
    ...flags.map((flag) => `${at} ${namesOf(flag)} -d ${quoted(flag.description)}${givenOf(flag)}`),
  ]
}

const namesOf = ({ flags }: Flag): string =>
  flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ')

const givenOf = ({ values }: Flag): string => {
  if (values === null) return ''
  if (values === 'unknown') return ' -x'
  return ` ${values === 'files' ? '-r' : '-x'} ${offer(values)}`
}

const offer = (values: Exclude<Values, 'unknown'>): string => {
  if (values === 'files') return '-F'
  return values === 'folders' ? `-a '(__fish_complete_directories)'` : `-a ${quoted(values.join(' '))}`
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
