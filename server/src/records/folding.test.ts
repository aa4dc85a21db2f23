import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold } from './folding.ts'

test('every character folds like its upper case, its lower case and its other forms, and folding again changes nothing', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const character = String.fromCodePoint(code)
    const folded = fold(character)
    const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => character.normalize(form))
    const others = new Set([character.toUpperCase(), character.toLowerCase(), folded, ...forms])
    others.delete(character)
    for (const same of others) {
      if (fold(same) !== folded) assert.fail(`U+${code.toString(16)} folds to ${folded}, but ${same} to ${fold(same)}`)
    }
  }
})
