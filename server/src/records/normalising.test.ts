import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startService } from '../../test/service.ts'
import { normalisedWords, renewedText, searchedText } from './normalising.ts'
import { keyOfWord, keysOfText } from './search-keys.ts'

const service = await startService()

/** All that Unicode has assigned: the others, and those for private use, have no case and no other form. */
const characters = function* () {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (!/[\p{Unassigned}\p{Private_Use}\p{Surrogate}]/u.test(character)) yield character
  }
}

const searchForm = (text: string): string => normalisedWords(text).join(' ')

test('every character is normalised like its upper case, its lower case and its other forms, and doing so again changes nothing', () => {
  for (const character of characters()) {
    const normalised = searchForm(character)
    const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => character.normalize(form))
    const others = new Set([character.toUpperCase(), character.toLowerCase(), normalised, ...forms])
    others.delete(character)
    for (const same of others) {
      if (searchForm(same) !== normalised)
        assert.fail(`${JSON.stringify(character)} becomes ${normalised}, but ${same} to ${searchForm(same)}`)
    }
  }
})

const isFound = (search: string, text: string): boolean =>
  normalisedWords(search).every((word) => searchedText(text).includes(word))

const spellings: [written: string, found: string[]][] = [
  ['Müller', ['müller', 'mueller', 'muller', 'MÜLLER', 'Mu\u0308ller']],
  ['Mueller', ['müller', 'mueller', 'muller']],
  ['Muller', ['müller', 'mueller', 'muller']],
  ['Straße', ['strasse', 'straße', 'STRASSE']],
  ['Ærøskøbing', ['aeroskobing', 'Aeroeskoebing', 'ærøskøbing']],
  ['Århus', ['aarhus', 'arhus', 'århus']],
  ['Aarhus', ['århus']],
  ['Łukasz', ['lukasz', 'łukasz']],
  ['Œuvre', ['oeuvre', 'œuvre']],
  ['Sigurðsson', ['sigurdsson']],
  ['Þór', ['thor']],
  ['Işık', ['isik', 'IŞIK', 'ışık']],
  ['Nguyễn', ['nguyen']],
]
for (const [written, searches] of spellings) {
  test(`${written} is found by ${searches.join(', ')}`, () => {
    for (const search of searches) assert.ok(isFound(search, written), search)
  })
}

test('an address is found by itself and by its parts, and not by one that is written differently', () => {
  for (const search of ['joe@example.com', 'JOE@example.com', 'joe@', 'oe@ex', 'e@example', '@example.com'])
    assert.ok(isFound(search, 'Joe joe@example.com'), search)
  for (const [search, written] of [
    ['joe@example.com', 'jo@example.com'],
    ['sue@', 'su@example.com'],
    ['sam@isaac.example', 'sam@isac.example'],
  ] as const)
    assert.ok(!isFound(search, written), search)
  assert.ok(isFound('müller@bücher.example', 'mueller@buecher.example'))
  assert.ok(isFound('bjørn@example.com', 'bjørn@example.com'))
})

test('a word of three letters or fewer is found as it is written', () => {
  for (const [search, written] of [
    ['sue', 'Sue'],
    ['el', 'Manuel'],
    ['ue', 'Mueller'],
    ['mül', 'Mueller'],
    ['þór', 'Thor'],
    ['ærø', 'Aeroe'],
    ['ø', 'Oslo'],
  ] as const)
    assert.ok(isFound(search, written), search)
  for (const [search, written] of [
    ['sue', 'Susan'],
    ['joe', 'John'],
    ['aa', 'Ada'],
  ] as const)
    assert.ok(!isFound(search, written), search)
})

test('a part that begins or ends inside a letter is found where the letter is kept as two', () => {
  for (const [search, written] of [
    ['sse', 'Straße'],
    ['hor', 'Þór'],
    ['eller', 'Mueller'],
    ['moeller', 'Raemoeller'],
    ['jaer', 'Kjær'],
    ['ær', 'Kjær'],
    ['muel', 'Müller'],
  ] as const)
    assert.ok(isFound(search, written), search)
  for (const [search, written] of [
    ['er', 'Kjær'],
    ['aer', 'Kjær'],
    ['er', 'Bjørn'],
    ['eller', 'Müller'],
    ['emoeller', 'Raemoeller'],
  ] as const)
    assert.ok(!isFound(search, written), search)
})

test('such a letter alone finds what it is kept as', () => {
  for (const [letters, kept] of [
    ['ł', 'l'],
    ['æäå', 'a'],
    ['øœö', 'o'],
    ['ß', 'ss'],
    ['þ', 'th'],
    ['’', "'"],
  ] as const)
    for (const letter of letters) assert.ok(isFound(letter, kept) && !isFound(letter, 'x'), letter)
  assert.ok(!isFound('ß', 'Hans') && !isFound('þ', 'Tom'))
})

const text = fc.array(fc.constantFrom(...'@aeouübcr æøłß'), { maxLength: 12 }).map((letters) => letters.join(''))

test('whatever a text holds is found in it, also a part that begins inside a pair of letters', () => {
  fc.assert(
    fc.property(text, fc.nat(12), fc.nat(12), (written, from, length) => {
      const search = written.slice(from, from + length)
      // What begins inside a pair and holds another one is not, unless it is sought as it is written.
      const [first = ''] = search.split(' ')
      fc.pre(first.includes('@') || !/^e.*([aou]e|aa|[üæøł])/.test(first))
      assert.ok(isFound(search, written), `${search} in ${written}`)
    }),
    { numRuns: 20_000 },
  )
})

/** What programs of before stored, which changed nothing further. */
const former = (written: string): string =>
  written
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')

test('a text of an earlier program becomes what this one stores, and stays it', () => {
  fc.assert(
    fc.property(text, (written) => {
      const renewed = renewedText(former(written.replaceAll('ß', 'ss')))
      assert.equal(renewed, searchedText(written))
      assert.equal(renewedText(renewed), renewed)
    }),
  )
})

test('PostgreSQL finds the texts that are to be done again, and none that this program makes', async () => {
  const texts = [
    '',
    'ann',
    'jan muller \u0001mueller',
    searchedText('Ann'),
    searchedText('Jan Mueller'),
    searchedText(''),
  ]
  const { rows } = await service.owner.query<{ found: string[] }>(
    `select array(select text from unnest($1::text[]) with ordinality as given (text, place)
        where ${await condition()} order by place) as found`,
    [texts],
  )
  assert.deepEqual(rows[0]?.found, texts.slice(0, 3))
})

const condition = async (): Promise<string> => {
  const { rows } = await service.owner.query<{ condition: string }>(
    `select pg_get_expr(indpred, indrelid) as condition from pg_index where indexrelid = 'search_texts_to_renew'::regclass`,
  )
  return rows[0]?.condition ?? ''
}

test('behind a text stand the keys of the short words that it has, and of no others', () => {
  const characters = [...'abeijqxz019 .@ж中田か', '\u{20bb7}']
  const short = fc
    .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 2 })
    .map((letters) => letters.join(''))
  const long = fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(long, short, (written, search) => {
      const [word, ...others] = normalisedWords(search)
      const key = word !== undefined && others.length === 0 ? keyOfWord(word) : null
      fc.pre(key !== null && word !== undefined)
      assert.equal(searchedText(written).includes(key ?? ''), isFound(search, written))
    }),
    { numRuns: 5_000 },
  )
  for (const word of ['qj', '3m', 'жу', '中田', '中', 'か']) assert.ok(keyOfWord(word), word)
  for (const word of ['an', '47', '@a', 'a', 'anna', '中田中']) assert.equal(keyOfWord(word), null, word)
})

test('a word in capitals is not found in what stands behind a text', () => {
  assert.ok(isFound('QJ', 'Aqj'))
  for (const search of ['zqj', 'ZQJ', 'qjz']) assert.ok(!isFound(search, 'Aqj Bxk'), search)
})

test('whatever of an address is sought, the key that leads to it stands behind the text', () => {
  const part = fc
    .array(fc.constantFrom(...'abeoü.@- '), { minLength: 3, maxLength: 14 })
    .map((letters) => letters.join(''))
  fc.assert(
    fc.property(fc.tuple(part, part, part), fc.nat(14), fc.nat(32), (parts, from, length) => {
      const written = parts.join('@')
      const [word, ...others] = normalisedWords(written.slice(from, from + length))
      fc.pre(word !== undefined && others.length === 0 && word.includes('@'))
      const key = keyOfWord(word ?? '')
      if (key && searchedText(written).includes(word ?? ''))
        assert.ok(searchedText(written).includes(key), `${word} in ${written}`)
    }),
    { numRuns: 20_000 },
  )
  assert.ok(keyOfWord('maelle@example.com'))
  assert.notEqual(keyOfWord('marie.maelle@example.com'), keyOfWord('maelle@example.com'))
  const key = keyOfWord('maelle@example.com') ?? ''
  assert.ok(searchedText('maelle@example.com').includes(key))
  assert.ok(!isFound(key, 'maelle@example.com'), 'a word in Hangul finds no key')
})

test('what stands behind a text is found by no word that the text has not', () => {
  const texts = fc.array(fc.constantFrom(...'abcyz@@.. 019qj中'), { maxLength: 30 }).map((letters) => letters.join(''))
  const words = fc
    .array(fc.constantFrom(...'abcyz019qj中'), { minLength: 1, maxLength: 3 })
    .map((letters) => letters.join(''))
  fc.assert(
    fc.property(texts, words, (written, word) => {
      const [text = ''] = searchedText(`${written} maelle@example.com`).split('\u0003')
      assert.equal(isFound(word, `${written} maelle@example.com`), text.includes(word))
    }),
    { numRuns: 20_000 },
  )
})

test('a text in ASCII has the keys that it has beside other letters', () => {
  const texts = fc.array(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0189@. -'), { maxLength: 40 })
  fc.assert(
    fc.property(texts, (letters) => {
      const text = letters.join('')
      assert.equal(keysOfText(`${text} é`), keysOfText(text))
    }),
    { numRuns: 5_000 },
  )
})
