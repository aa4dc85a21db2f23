/** What search compares: case, accents and compatibility forms do not matter, on either side. */
export const normalise = (text: string): string => (isAscii(text) ? text.toLowerCase() : normaliseAny(text))

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

const normaliseAny = (text: string): string =>
  text
    .normalize('NFKD')
    // ẞ has ß for its lower case, which has SS for its upper case.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    // Lower case of Σ depends on where it stands in a word; a substring must not.
    .replaceAll('ς', 'σ')

/** The words of a search; a word never holds a space, so it cannot match across two fields. */
export const normalisedWords = (search: string): string[] => [...new Set(normalise(search).split(' ').filter(Boolean))]

export const normalisedStatus = (status: string): string => status.toLowerCase()
