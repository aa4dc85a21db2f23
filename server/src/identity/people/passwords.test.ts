import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Busy } from '../../database/fair-queue.ts'

// A module of its own, which has compared no password yet.
const { hashPassword, matchPasswords }: typeof import('./passwords.ts') = await import(`./passwords.ts?${randomUUID()}`)

test('the password of an address without an account is compared again after a moment when too many were', async () => {
  const many = Array.from({ length: 102 }, () => hashPassword('correct horse battery', randomBytes(16)))
  await assert.rejects(matchPasswords('any password', []), Busy)
  // On a slow machine the last ones are refused.
  await Promise.allSettled(many)
  assert.deepEqual(await matchPasswords('any password', []), [])
})

test('a hash that cannot be derived keeps nobody else from signing in', async () => {
  const hash = await hashPassword('correct horse battery', randomBytes(16))
  const broken = hash.replace(/m=\d+/, 'm=1')
  await assert.rejects(matchPasswords('correct horse battery', [broken]), { code: 'ERR_OUT_OF_RANGE' })
  assert.deepEqual(await matchPasswords('correct horse battery', [hash]), [true])
})
