import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalise } from './normalising.ts'

test('every character is normalised like its upper case, its lower case and its other forms, and doing so again changes nothing', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const character = String.fromCodePoint(code)
    const normalised = normalise(character)
    const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => character.normalize(form))
    const others = new Set([character.toUpperCase(), character.toLowerCase(), normalised, ...forms])
    others.delete(character)
    for (const same of others) {
      if (normalise(same) !== normalised)
        assert.fail(`U+${code.toString(16)} becomes ${normalised}, but ${same} to ${normalise(same)}`)
    }
  }
})
