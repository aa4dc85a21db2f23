import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'
import type { Plugin } from 'vite'

/** The library that draws the reference of the API. Its package hands the script out by a plugin of Fastify only. */
export const referenceScript: Plugin = {
  name: 'reference-script',
  async generateBundle() {
    const app = Fastify()
    await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } })
    const { statusCode, rawPayload } = await app.inject('/reference/js/scalar.js')
    if (statusCode !== 200) this.error(`the package of the reference answered ${statusCode}`)
    this.emitFile({ type: 'asset', fileName: 'scalar.js', source: rawPayload })
  },
}
