/**
 * The index of searches knows texts by every three letters that stand together. It cannot lead to a word of two, and an e-mail address is made of
 * letters that many share. So there are keys behind a text: the pairs of letters that are rare, after a capital, of which no text and no word has
 * any, as `Zqj`, and three syllables for what stands around each @.
 */
const capital = 'Z'

/** Behind each letter those that follow it in one of some fifty names and addresses: a search finds enough of them by reading in order. */
const common: Readonly<Record<string, string>> = {
  a: 'abcdfghijklmnprstuvz',
  b: 'abeiloruy',
  c: 'acehiklortuyz',
  d: 'aeiorsu',
  e: 'abcdefghijklmnoprstuvwxz',
  f: 'aefilortu',
  g: 'aeghilnorsu',
  h: 'aeilortu',
  i: 'abcdefgjklmnoprstuvz',
  j: 'aeou',
  k: 'aeilnorstu',
  l: 'adeilmnostuy',
  m: 'abeimopsuy',
  n: 'acdefghiknostuvyz',
  o: 'bcdefgiklmnoprstuvwz',
  p: 'aeiloprstu',
  q: 'u',
  r: 'abcdefgiklmnoprstuvyz',
  s: 'abcefhiklmnopstuvz',
  t: 'aehilorstuy',
  u: 'abcdefgijlmnprst',
  v: 'aeio',
  w: 'aeioy',
  y: 'cms',
  z: 'aeiouyz',
}

/** Of two letters, or of a letter and a digit. */
const isRarePair = (first: string, second: string): boolean =>
  isLetterOrDigit(first) &&
  isLetterOrDigit(second) &&
  !(isDigit(first) && isDigit(second)) &&
  !common[first]?.includes(second)

const isDigit = (character: string): boolean => /\p{N}/u.test(character)
const isLetterOrDigit = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)
/** Of these, one alone is a word. */
const isIdeograph = (character: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(character)

/** The rare pairs of ASCII, by the codes of both: each write makes a text, and most texts are ASCII. */
const rareInAscii = new Uint8Array(128 * 128)
for (const first of 'abcdefghijklmnopqrstuvwxyz0123456789')
  for (const second of 'abcdefghijklmnopqrstuvwxyz0123456789')
    if (isRarePair(first, second)) rareInAscii[first.charCodeAt(0) * 128 + second.charCodeAt(0)] = 1

/** The keys that stand behind a text. */
export const keysOfText = (text: string): string => {
  const found = new Set<string>()
  if (/[^\0-\x7f]/.test(text)) {
    let previous = ' '
    for (const character of text) {
      if (isIdeograph(character)) found.add(`${capital}${capital}${character}`)
      if (isRarePair(previous, character)) found.add(`${capital}${previous}${character}`)
      previous = character
    }
  } else {
    for (let index = 1; index < text.length; index++)
      if (rareInAscii[text.charCodeAt(index - 1) * 128 + text.charCodeAt(index)])
        found.add(capital + text.slice(index - 1, index + 1))
  }
  for (const around of aroundAts) for (const address of text.matchAll(around)) found.add(keyOfAddress(address))
  return [...found].join('')
}

/** The key that stands behind every text with this word; null where there is none. */
export const keyOfWord = (word: string): string | null => {
  for (const around of aroundAts) for (const address of word.matchAll(around)) return keyOfAddress(address)
  const [first = '', second, ...more] = word
  if (more.length > 0) return null
  if (second === undefined) return isIdeograph(first) ? `${capital}${capital}${first}` : null
  return isRarePair(first, second) ? `${capital}${first}${second}` : null
}

/**
 * Ten or five characters before the @ and the domain up to its first dot: a search for more of the address includes them. The longer leads to
 * fewer where many people of one domain have the same last name.
 */
const aroundAts = [/@(?<=(\S{10})@)(?=([^\s@.]+\.))/gu, /@(?<=(\S{5})@)(?=([^\s@.]+\.))/gu]

/**
 * A number, written in syllables of Hangul. No text and no word has any, because normalising takes them apart into letters; and to the index,
 * which knows no capitals, letters of ours would be three more that stand together in some word.
 */
const keyOfAddress = ([, before = '', after = '']: RegExpMatchArray): string => {
  let hash = 0
  for (const character of before + after) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0
  const syllables = [1, countOfSyllables, countOfSyllables ** 2].map(
    (place) => Math.floor(hash / place) % countOfSyllables,
  )
  return String.fromCharCode(...syllables.map((number) => firstSyllable + number))
}
const firstSyllable = 0xac00
const countOfSyllables = 11_172
