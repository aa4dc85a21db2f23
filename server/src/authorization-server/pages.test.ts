import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { scopes } from '@masthead/contract'
import { allScopes } from '../identity/people/roles.ts'
import {
  type Consent,
  consentPage,
  errorPage,
  type Page,
  pageStyle,
  type SignIn,
  signedOutPage,
  signInPage,
  signOutPage,
} from './pages.ts'

const press = { id: 't1', name: 'Northwind Press', role: 'editor' } as const
const journals = { id: 't2', name: 'Contoso Journals', role: 'viewer' } as const

const signIn = (given: Partial<SignIn> = {}) =>
  signInPage({ action: '/sign-in', application: 'Ledger Sync', cancel: '/cancel', ...given })

const consent = (given: Partial<Consent> = {}) =>
  consentPage({
    action: '/consent',
    application: 'Ledger Sync',
    redirectHost: 'app.example',
    user: 'Ada <ada@example.com>',
    scopes: allScopes,
    tenants: [press],
    callbackOrigin: 'https://app.example',
    switchUser: '/switch',
    ...given,
  })

const libraryForm = '<form id="op.logoutForm" method="post" action="/confirm"><input type="hidden" name="xsrf"></form>'
const signOut = () => signOutPage({ form: libraryForm, formId: 'op.logoutForm' })

/** Every page, with the same text in each place that takes one. */
const pagesSaying = (text: string): Record<string, Page> => {
  const tenants = [press, journals].map(({ role }, index) => ({ id: `${text}${index}`, name: text, role }))
  const everywhere = { action: text, application: text, redirectHost: text, user: text, switchUser: text }
  return {
    'sign-in': signIn({ action: text, application: text, cancel: text }),
    'sign-in after a problem': signIn({ action: text, application: text, cancel: text, email: text, problem: text }),
    'consent for one organisation': consent({ ...everywhere, tenants: tenants.slice(0, 1) }),
    'consent for several organisations': consent({ ...everywhere, tenants }),
    'consent for no organisation': consent({ ...everywhere, tenants: [] }),
    error: errorPage({ status: 400, title: text, detail: text, technical: text, requestId: text }),
    'sign-out': signOut(),
    'signed out': signedOutPage(),
  }
}

const tags = (markup: string, name: string): string[] => markup.match(new RegExp(`<${name}\\b[^>]*>`, 'g')) ?? []
const attribute = (tag: string, name: string): string | undefined => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
const named = (markup: string, tag: string, name: string): string =>
  tags(markup, tag).find((found) => attribute(found, 'name') === name || attribute(found, 'value') === name) ?? ''

describe('every page', () => {
  const hostile = pagesSaying(`"'><script src=x>alert(1)</script>&amp;`)
  const escaped = '&quot;&#39;&gt;&lt;script src=x&gt;alert(1)&lt;/script&gt;&amp;amp;'
  for (const [name, { html, contentSecurityPolicy, status }] of Object.entries(pagesSaying('plain'))) {
    test(`escapes what it is given: ${name}`, () => {
      assert.equal(hostile[name]?.html, html.replaceAll('plain', escaped))
    })

    test(`has no script, no style attribute and nothing from elsewhere: ${name}`, () => {
      assert.doesNotMatch(html, /<script|javascript:|\son[a-z]+=|\sstyle=|\ssrc=|<link|url\(|@import/)
    })

    test(`allows its one style, no frame and no base: ${name}`, () => {
      const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      assert.match(contentSecurityPolicy, /^default-src 'none'; /)
      assert.ok(contentSecurityPolicy.includes(`; style-src 'sha256-${hash}';`))
      assert.match(contentSecurityPolicy, /; form-action 'self'[^;]*; frame-ancestors 'none'; base-uri 'none'$/)
      assert.equal(
        status,
        { 'sign-in after a problem': 422, 'consent for no organisation': 403, error: 400 }[name] ?? 200,
      )
    })

    test(`names itself, its language and one heading, and tells nobody its address: ${name}`, () => {
      assert.match(html, /^<!doctype html>\n<html lang="en">/)
      assert.match(html, /<title>.+ – Masthead<\/title>/)
      assert.equal(tags(html, 'h1').length, 1)
      assert.match(html, /<meta name="referrer" content="no-referrer">/)
    })

    test(`labels every control, once each: ${name}`, () => {
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length)
      const labelled = tags(html, 'label').map((label) => attribute(label, 'for'))
      for (const input of tags(html, 'input').filter((input) => attribute(input, 'type') !== 'hidden')) {
        assert.ok(labelled.includes(attribute(input, 'id')), input)
      }
      assert.doesNotMatch(html, /<button[^>]*>\s*<\/button>/)
      for (const [, id] of html.matchAll(/aria-describedby="([^"]*)"/g)) assert.ok(ids.includes(id), id)
      assert.ok(tags(html, 'form').every((form) => attribute(form, 'method') === 'post'))
    })
  }
})

describe('text that somebody else wrote', () => {
  test('stands isolated, without control characters and with few accents', () => {
    const { html } = consent({ application: `A\u202e\u2066b\u2069\u0000\nc e${'\u0301'.repeat(60)}` })
    assert.ok(html.includes(`<bdi>A b c e${'\u0301'.repeat(4)}</bdi>`))
  })

  test('keeps emoji and the words of every script', () => {
    for (const name of ['👩‍👩‍👧 Family ❤️', 'دار النشر', 'ประชาสัมพันธ์', '出版社']) {
      assert.ok(consent({ application: name }).html.includes(`<bdi>${name}</bdi>`), name)
    }
  })

  test('is called nameless when there is nothing to see', () => {
    for (const name of ['', ' ', '\u200b\u2060', '\u3164', '\u202e']) {
      assert.match(consent({ application: name }).html, /<bdi>An application without a name<\/bdi>/)
    }
  })
})

describe('signing in', () => {
  test('asks for what a password manager fills in', () => {
    const { html } = signIn()
    assert.match(named(html, 'input', 'email'), /type="email" autocomplete="username".* required /s)
    assert.match(named(html, 'input', 'password'), /type="password" autocomplete="current-password"\s+required/)
    assert.deepEqual(
      tags(html, 'form').map((form) => attribute(form, 'action')),
      ['/sign-in', '/cancel'],
    )
  })

  test('begins at the address, and at the password when the address is known', () => {
    assert.match(named(signIn().html, 'input', 'email'), / autofocus>/)
    const { html } = signIn({ email: 'ada@example.com' })
    assert.match(named(html, 'input', 'password'), / autofocus>/)
    assert.equal(html.match(/ autofocus/g)?.length, 1)
    assert.equal(attribute(named(html, 'input', 'email'), 'value'), 'ada@example.com')
  })

  test('announces a problem and ties it to both fields', () => {
    const { html } = signIn({ email: 'ada@example.com', problem: 'They do not match.' })
    assert.match(html, /role="alert" id="problem"><bdi>They do not match\.<\/bdi>/)
    for (const name of ['email', 'password']) {
      assert.match(named(html, 'input', name), /aria-invalid="true" aria-describedby="problem"/)
    }
    assert.doesNotMatch(signIn().html, /aria-invalid="|role="alert"/)
  })
})

describe('consent', () => {
  test('says each scope in the words of the contract, who asks, for whom and where it leads', () => {
    const { html } = consent()
    for (const words of Object.values(scopes)) assert.ok(html.includes(`<li>${words}</li>`), words)
    for (const fact of ['Ledger Sync', 'app.example', 'Ada &lt;ada@example.com&gt;', 'Northwind Press']) {
      assert.ok(html.includes(`<bdi>${fact}</bdi>`), fact)
    }
    assert.doesNotMatch(html, /class="note"/)
  })

  test('chooses no organisation for somebody who has several, and needs none in order to deny', () => {
    const { html } = consent({ tenants: [press, journals] })
    const radios = tags(html, 'input')
    assert.deepEqual(
      radios.map((radio) => attribute(radio, 'value')),
      ['t1', 't2'],
    )
    assert.ok(radios.every((radio) => / type="radio" name="tenant" .* required/.test(radio)))
    assert.doesNotMatch(html, / checked[ >]/)
    assert.match(named(html, 'button', 'deny'), / formnovalidate>/)
  })

  test('carries the only organisation along', () => {
    assert.match(named(consent().html, 'input', 'tenant'), / type="hidden" .*value="t1"/)
  })

  test('notes which scopes a role does not include', () => {
    for (const tenants of [[journals], [press, journals]]) {
      const notes = consent({ tenants, scopes: ['contacts:read', 'tasks:write'] }).html.split('class="note"')
      assert.equal(notes.length, 2)
      assert.match(notes[1] ?? '', /<ul><li>Create tasks for accounts, change them and mark them as done<\/li><\/ul>/)
    }
  })

  test('offers only to deny when there is no organisation', () => {
    const { html } = consent({ tenants: [] })
    assert.deepEqual(
      tags(html, 'button').map((button) => attribute(button, 'value')),
      [undefined, 'deny'],
    )
    assert.match(html, /not a member of any organisation/)
  })

  test('gives no control the focus, so that a stray key allows nothing', () => {
    assert.doesNotMatch(consent().html, /autofocus/)
  })

  test('lets the form lead to the callback and to no other place', () => {
    const sources = (callbackOrigin: string | null) =>
      /form-action ([^;]*);/.exec(consent({ callbackOrigin }).contentSecurityPolicy)?.[1]
    assert.equal(sources(null), `'self'`)
    assert.equal(sources('https://app.example:8443/callback?x=1'), `'self' https://app.example:8443`)
    assert.equal(sources('com.example.app:'), `'self' com.example.app:`)
    assert.equal(sources('com.example.app:/callback'), `'self' com.example.app:`)
    assert.equal(sources('http://127.0.0.1:53211'), `'self' http://127.0.0.1:53211`)
    assert.equal(sources('http://[::1]:53211/callback'), `'self' http:`)
    assert.equal(sources(`https://a;script-src`), `'self' https:`)
    assert.throws(() => sources(`'unsafe-inline'`), TypeError)
  })
})

test('signing out submits the form of the library', () => {
  const { html } = signOut()
  assert.ok(html.includes(libraryForm))
  assert.match(named(html, 'button', 'logout'), /form="op\.logoutForm" name="logout" value="yes"/)
  assert.ok(tags(html, 'button').every((button) => attribute(button, 'form') === 'op.logoutForm'))
})

describe('colours', () => {
  const [light = '', dark = ''] = pageStyle.split('@media (prefers-color-scheme: dark)')
  const luminance = (colour: string): number => {
    const channel = (at: number) => {
      const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    }
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
  }
  const pairs: [string, string, number][] = [
    ...['paper', 'card', 'panel'].map((ground): [string, string, number] => ['ink', ground, 4.5]),
    ...['muted', 'accent', 'accent-hover'].flatMap((text): [string, string, number][] => [
      [text, 'card', 4.5],
      [text, 'panel', 4.5],
    ]),
    ['on-accent', 'accent', 4.5],
    ['on-accent', 'accent-hover', 4.5],
    ['problem', 'problem-panel', 4.5],
    ['problem', 'card', 4.5],
    ['caution', 'caution-panel', 4.5],
    ['caution', 'card', 4.5],
    ['edge', 'card', 3],
  ]
  for (const [scheme, style] of Object.entries({ light, dark })) {
    const colour = (name: string): number => luminance(new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(style)?.[1] ?? '')
    test(`contrast as WCAG 2.2 AA asks, ${scheme}`, () => {
      for (const [text, ground, least] of pairs) {
        const [darker = 0, lighter = 0] = [colour(text), colour(ground)].sort((a, b) => a - b)
        const ratio = (lighter + 0.05) / (darker + 0.05)
        assert.ok(ratio >= least, `${text} on ${ground}: ${ratio}`)
      }
    })
  }
})
