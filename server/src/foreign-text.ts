const longestShown = 60

/** Quotes text of others in a message: shortened, and without control characters, which could affect a terminal. */
export const shown = (text: string): string => {
  const beginning = text.slice(0, longestShown).toWellFormed()
  return `"${printable(beginning)}${text.length > longestShown ? '…' : ''}"`
}

/** Escapes control characters, including line breaks, because a message is one line. */
export const printable = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
