import assert from 'node:assert/strict'
import type { Tokens } from '../browsers/oauth-browser.ts'
import type { Service } from '../service.ts'

/** What the API makes of access tokens. */
export const withTokens = ({ call }: Pick<Service, 'call'>) => {
  const contacts = (accessToken: string) => call('GET', '/contacts', { token: accessToken })
  return {
    contacts,
    assertWorks: async ({ access_token }: Tokens): Promise<void> => {
      assert.equal((await contacts(access_token)).status, 200)
    },
    assertRefused: async (accessToken: string): Promise<void> => {
      const { status, body, headers } = await contacts(accessToken)
      assert.deepEqual([status, body.code], [401, 'invalid_token'])
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer .*error="invalid_token"/)
    },
  }
}
