import { type Completed, inQuotes, stepsOf, type Values, valueCases } from './words.ts'

export const zshScript = (commands: readonly Completed[]): string => `#compdef masthead
# Completion of masthead for zsh.
_masthead() {
  local word place=''
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      ${stepsOf(commands).map(inQuotes).join(' | ')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place:\${words[CURRENT-1]}" in
${valueCases(commands, offer)}
  esac
  case "$place" in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _masthead ]]; then _masthead "$@"; else compdef _masthead masthead; fi
`

const commandCase = ({ path, commands, flags, values }: Completed): string => {
  const options = flags.map(({ flags: [name = ''], description }) => described(name, description))
  const names = commands.map(({ name, description }) => described(name, description))
  const both = [
    ...(names.length > 0 ? [`found=(${names.join(' ')}); _describe command found`] : []),
    ...(values.length > 0 ? [offer(values)] : []),
  ].join('; ')
  return `    ${inQuotes(path)}) if [[ $PREFIX == -* ]]; then found=(${options.join(' ')}); _describe -o option found; else ${both || ':'}; fi ;;`
}

/** A colon ends the word that a description is for. */
const described = (word: string, description: string): string =>
  inQuotes(`${word.replaceAll(':', '\\:')}:${description}`)

const offer = (values: Values): string => {
  if (values === 'unknown') return ':'
  if (values === 'files') return '_files'
  if (values === 'folders') return '_files -/'
  return `compadd -- ${values.map(inQuotes).join(' ')}`
}
