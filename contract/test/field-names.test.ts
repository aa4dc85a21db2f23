import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fieldNames, fieldOfHeading, normalisedHeading } from '../src/field-names.ts'
import { resourceNames, storedFieldsOf } from '../src/index.ts'

describe('the names of fields in files', () => {
  test('are there for every stored field and in every language, and for no other', () => {
    for (const resource of resourceNames) {
      const fields = storedFieldsOf(resource).map(({ name }) => name)
      assert.deepEqual(Object.keys(fieldNames[resource]).sort(), fields.toSorted(), resource)
      for (const [field, names] of Object.entries(fieldNames[resource]))
        for (const [language, listed] of Object.entries(names))
          assert.ok(listed.length > 0 && listed.every((name) => name !== ''), `${resource} ${field} ${language}`)
    }
  })

  test('name one field each', () => {
    for (const resource of resourceNames)
      for (const [field, { en, de, fr, es }] of Object.entries(fieldNames[resource]))
        for (const name of [field, ...en, ...de, ...fr, ...es])
          assert.equal(fieldOfHeading(resource, name), field, `${name} of ${resource}`)
  })

  test('are found without case, spaces, punctuation and accents, and with numbers abbreviated', () => {
    assert.equal(normalisedHeading(' E-Mail_Adresse '), 'emailadresse')
    const expected = {
      KUNDENNR: 'accountId',
      'Kunden-Nr.': 'accountId',
      customer_no: 'accountId',
      'N° client': 'accountId',
      'Nº de cliente': 'accountId',
      Strasse: 'address',
      'Código Postal': 'zip',
      PLZ: 'zip',
      'address.street': 'address',
      'address.postalCode': 'zip',
      billing_email: 'billingEmail',
    }
    for (const [heading, field] of Object.entries(expected))
      assert.equal(fieldOfHeading('accounts', heading), field, heading)
    for (const heading of ['', '-', 'Faxnummer', 'product.id']) assert.equal(fieldOfHeading('accounts', heading), null)
  })
})
