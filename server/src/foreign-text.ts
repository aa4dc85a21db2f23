const longestShown = 60

/** What somebody else wrote, as a message may show it: in quotes, not too long, and without power over a terminal. */
export const shown = (text: string): string => {
  const beginning = text.slice(0, longestShown).toWellFormed()
  return `"${printable(beginning)}${text.length > longestShown ? '…' : ''}"`
}

/** Control characters as escapes; line breaks too, because a message is one line. */
export const printable = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
