import { once } from 'node:events'
import { createServer } from 'node:http'
import type { BrowserServer } from 'playwright-core'

export type OfferedBrowser = { address: string; close: () => Promise<void> }

/** One Chromium for all test files, which starts when the first of them asks at this address where it is. */
export const offerBrowser = async (): Promise<OfferedBrowser> => {
  let started: Promise<BrowserServer> | undefined
  const start = async () => {
    // Most runs of single files need no browser.
    const [{ chromium }, { launchOptions }] = await Promise.all([import('playwright-core'), import('./browser.ts')])
    const browser = await chromium.launchServer(await launchOptions())
    // After a crash, whoever asks next gets another one.
    browser.on('close', () => (started = undefined))
    return browser
  }
  const server = createServer(async (_request, response) => {
    started ??= start()
    try {
      response.end((await started).wsEndpoint())
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return {
    address: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await (await started)?.close()
    },
  }
}
