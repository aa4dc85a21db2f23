import { type Completed, inQuotes, stepsOf, type Values, valueCases } from './words.ts'

export const bashScript = (commands: readonly Completed[]): string => `# Completion of masthead for bash.
_masthead() {
  local word path='' current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$path $word" in
      ${stepsOf(commands).map(inQuotes).join(' | ')}) path="\${path:+$path }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$path:$previous" in
${valueCases(commands, reply)}
  esac
  case "$path" in
${commands.map(commandCase).join('\n')}
  esac
}
complete -F _masthead masthead
`

const commandCase = ({ path, commands, flags, values }: Completed): string => {
  const options = reply(flags.flatMap(({ flags: all }) => all.slice(0, 1)))
  const words = `${reply(commands.map(({ name }) => name))}; ${reply(values)}`
  return `    ${inQuotes(path)}) if [[ $current == -* ]]; then ${options}; else ${words}; fi ;;`
}

/** Words are split at spaces, and names of files at line ends. */
const reply = (values: Values): string => {
  if (values === 'unknown' || values.length === 0) return ':'
  if (values === 'files' || values === 'folders') {
    const kind = values === 'files' ? '-f' : '-d'
    return `compopt -o filenames; local IFS=$'\\n'; COMPREPLY+=($(compgen ${kind} -- "$current"))`
  }
  return `COMPREPLY+=($(compgen -W ${inQuotes(values.join(' '))} -- "$current"))`
}
