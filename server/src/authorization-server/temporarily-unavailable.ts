import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../database/database.ts'
import { isUnavailable } from '../database/unavailable.ts'
import { retryAfterSeconds } from '../http/responses/problems.ts'

/** The database as the provider sees it: it takes an error that it knows for an answer, and any other for a failure. */
export const tellingWhenAway = (database: Database): Database => ({
  ...database,
  query: (statement) => database.query<never>(statement).catch(tell),
  read: (statement) => database.read<never>(statement).catch(tell),
  transaction: (work) => database.transaction(work).catch(tell),
})

const tell = (error: unknown): never => {
  throw isUnavailable(error) ? temporarilyUnavailable(error) : error
}

/** The name is that of RFC 6749 §4.1.2.1; where nobody is sent back to an application, the status says the same. */
const temporarilyUnavailable = (cause: unknown): errors.TemporarilyUnavailable => {
  const error = new errors.TemporarilyUnavailable('the service cannot reach its data right now', { cause })
  error.status = error.statusCode = 503
  return error
}

type Rendering = NonNullable<Configuration['renderError']>

/** Says when to come again, also where the provider has no handler of its own. */
export const sayWhenToRetry =
  (render: Rendering) =>
  async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof errors.TemporarilyUnavailable)) throw error
      const out = { error: error.error, error_description: error.error_description }
      ctx.status = error.status
      if (ctx.accepts('json', 'html') === 'html') await render(ctx, out, error)
      else ctx.body = out
    }
    if (ctx.status === 503) ctx.set('retry-after', retryAfterSeconds)
  }
