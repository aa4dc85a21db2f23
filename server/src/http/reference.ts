import { basePath } from '@masthead/contract'
import Fastify, { type FastifyInstance } from 'fastify'
import { lazily } from '../lazily.ts'

const prefix = '/docs/reference'

/** The reference for people. It is large and few look at it, so it is loaded for the first who does. */
export const mountReference = (app: FastifyInstance): void => {
  const page = lazily(load)
  for (const path of [prefix, `${prefix}/`, `${prefix}/js/scalar.js`]) {
    app.get(path, async (_request, reply) => {
      const { statusCode, headers, rawPayload } = await (await page()).inject(path)
      for (const name of ['content-type', 'location']) if (headers[name]) reply.header(name, headers[name])
      return reply.code(statusCode).send(rawPayload)
    })
  }
}

/** An app of its own, because one that serves takes no more plugins. */
const load = async (): Promise<FastifyInstance> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(scalar, {
    routePrefix: prefix,
    configuration: {
      url: `${basePath}/openapi.json`,
      title: 'Masthead',
      authentication: { preferredSecurityScheme: 'personalAccessToken' },
      // Nothing on the page reaches for a service outside.
      ...{ telemetry: false, withDefaultFonts: false, showDeveloperTools: 'never', hideClientButton: true },
      ...{ agent: { disabled: true }, mcp: { disabled: true } },
    },
  })
  return app
}
