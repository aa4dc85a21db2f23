import type { KeyForm } from '@masthead/contract'
import { keysOfText } from './search-keys.ts'

/** What is compared without case, accents and compatibility forms, on either side. */
const normalise = (text: string): string => (isAscii(text) ? text.toLowerCase() : normaliseAny(text))

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
export const normalisedWords = (search: string): string[] => {
  const words = withoutMarks(normalise(search)).split(' ').filter(Boolean)
  return [...new Set(words.map((word) => (isSoughtAsWritten(word) ? word : respell(word))))]
}

/**
 * joe@example.com is another address than jo@example.com, and a word as short as sue would be found nearly everywhere as su. A letter
 * that many keyboards lack is respelled in a short word nevertheless: who writes it means the one sound.
 */
const isSoughtAsWritten = (word: string): boolean => word.includes('@') || (word.length <= 3 && !hasLetter.test(word))

/** The text that a search for normalised words looks into. */
export const searchedText = (text: string): string => withKeys(withRespelledWords(withoutMarks(normalise(text))))

/** A text that an earlier program stored, as this one stores it. */
export const renewedText = (stored: string): string => {
  if (stored.includes(keysMark)) return stored
  const [text = ''] = stored.split(` ${formerKeysMark}`)
  return withKeys(withRespelledWords(text))
}

/** Marks stand in no text that is searched, so that what follows them can be told from the text itself. */
const mark = '\u0001'
/** Stands in every stored text, before its keys: those without are of an earlier program, and the index `search_texts_to_renew` holds them. */
const keysMark = '\u0003'
const formerKeysMark = '\u0002'
const withoutMarks = (text: string): string =>
  [mark, keysMark, formerKeysMark].reduce((rest, one) => rest.replaceAll(one, ' '), text)

const withKeys = (text: string): string => `${text} ${keysMark}${keysOfText(text)}`

/**
 * The words that change are kept behind the text as they were, so that a search finds what begins with the second letter of a pair,
 * such as `el` in Manuel. Programs of before, which search for words as they are, find them there as well.
 */
const withRespelledWords = (normalised: string): string => {
  if (normalised.includes(mark) || !isRespelled.test(normalised)) return normalised
  const kept = normalised.split(' ').filter((word) => isRespelled.test(word))
  return `${respell(normalised)} ${mark}${kept.join(' ')}`
}

/** Letters and signs that Unicode does not decompose, as people write them without. */
const plainLetters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ɖ: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ƀ: 'b',
  ɓ: 'b',
  ɗ: 'd',
  ǥ: 'g',
  ɨ: 'i',
  ƚ: 'l',
  ɔ: 'o',
  ɛ: 'e',
  ʉ: 'u',
  ƶ: 'z',
  '‘': "'",
  '’': "'",
  ʼ: "'",
  '‐': '-',
  '–': '-',
}
const letters = Object.keys(plainLetters).join('')
const anyLetter = new RegExp(`[${letters}]`, 'g')
const hasLetter = new RegExp(`[${letters}]`)

const isRespelled = new RegExp(`[aou]e|aa|[${letters}]`)

/** Who has no ä writes ae or a, and who has no å writes aa or a. All of them become a here, as they do on the other side. */
const respell = (normalised: string): string =>
  isRespelled.test(normalised)
    ? normalised
        .replace(anyLetter, (letter) => plainLetters[letter] ?? letter)
        .replace(/([aou])e/g, '$1')
        .replace(/aa+/g, 'a')
    : normalised

export const normalisedStatus = (status: string): string => status.toLowerCase()

/** An index holds no more of a text than some 2,700 bytes. */
const longestKey = 200

/** What filters and sorting compare of a value: the column that the contract calls its key. */
export const keyOf: Readonly<Record<KeyForm, (value: string) => string>> = {
  lowerCase: normalisedStatus,
  name: (value) => shortened(normalise(value).trim()),
  // The column of an amount holds more digits than that of its cents.
  cents: (value) => String(bounded(BigInt(value.replace('.', '')))),
  whole: (value) => String(bounded(BigInt(Math.round(Number(value))))),
}

const shortened = (text: string): string => (text.length <= longestKey ? text : [...text].slice(0, longestKey).join(''))

const largestKey = 9n * 10n ** 18n
const bounded = (value: bigint): bigint => {
  if (value > largestKey) return largestKey
  return value < -largestKey ? -largestKey : value
}
