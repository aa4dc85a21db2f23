import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startService } from '../../test/service.ts'
import { normalisedWords, searchedText, withRespelledWords } from './normalising.ts'

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
      const respelled = withRespelledWords(former(written.replaceAll('ß', 'ss')))
      assert.equal(respelled, searchedText(written))
      assert.equal(withRespelledWords(respelled), respelled)
    }),
  )
})

test('PostgreSQL finds exactly the texts that are to be respelled', async () => {
  const texts = [...characters()].filter((character) => character !== '\0')
  for (const first of 'aeiouy') for (const second of 'aeiouy') texts.push(first + second)
  const expected = texts.filter((one) => one !== '\u0001' && withRespelledWords(one) !== one)
  const { rows } = await service.owner.query<{ found: string[] }>(
    `select array(select text from unnest($1::text[]) with ordinality as given (text, place)
        where ${await condition()} order by place) as found`,
    [texts],
  )
  assert.deepEqual(rows[0]?.found, expected)
  assert.ok(expected.length > 30)
})

const condition = async (): Promise<string> => {
  const { rows } = await service.owner.query<{ condition: string }>(
    `select pg_get_expr(indpred, indrelid) as condition from pg_index where indexrelid = 'search_texts_to_respell'::regclass`,
  )
  return rows[0]?.condition ?? ''
}
