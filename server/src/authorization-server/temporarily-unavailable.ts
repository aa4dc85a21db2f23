import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import { isUnavailable } from '../database/connections/unavailable.ts'
import type { Database } from '../database/database.ts'
import { retryAfterSeconds } from '../problem.ts'

/** A database whose outages are errors that the provider knows: it sends those to the client, and reports others as failures. */
export const withProviderErrors = (database: Database): Database => ({
  ...database,
  query: (statement) => database.query<never>(statement).catch(rethrow),
  read: (statement) => database.read<never>(statement).catch(rethrow),
  transaction: (work) => database.transaction(work).catch(rethrow),
})

const rethrow = (cause: unknown): never => {
  if (!isUnavailable(cause)) throw cause
  // RFC 6749 §4.1.2.1 defines the error; without a redirect to the application the status says the same.
  const error = new errors.TemporarilyUnavailable('the service cannot reach its data right now', { cause })
  error.status = error.statusCode = 503
  throw error
}

/** Adds `Retry-After`, also where the provider has no error handler of its own. */
export const addRetryAfter =
  (renderError: NonNullable<Configuration['renderError']>) =>
  async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof errors.TemporarilyUnavailable)) throw error
      const out = { error: error.error, error_description: error.error_description }
      ctx.status = error.status
      if (ctx.accepts('json', 'html') === 'html') await renderError(ctx, out, error)
      else ctx.body = out
    }
    if (ctx.status === 503) ctx.set('retry-after', String(retryAfterSeconds))
  }
