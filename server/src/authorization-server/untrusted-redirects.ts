import type { Configuration, errors, KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Database } from '../database/database.ts'
import { hasConsented } from '../identity/people/consents.ts'

type RenderError = NonNullable<Configuration['renderError']>

/**
 * RFC 9700 §4.11.2: "The authorization server SHOULD only automatically redirect the user agent if it trusts the redirect
 * URI." A tenant's administrator can register any URI, so an error goes there only by the user's own decision. Otherwise
 * it is shown instead of the provider's response, be it a redirect or a form.
 */
export const showUntrustedErrors = (provider: Provider, database: Database, renderError: RenderError): void => {
  const failures = new WeakMap<KoaContextWithOIDC, errors.OIDCProviderError>()
  provider.on('authorization.error', (ctx, error) => failures.set(ctx, error))
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    await next()
    const failure = failures.get(ctx)
    if (!failure || (await mayRedirect(ctx, failure, database))) return
    ctx.remove('location')
    // The errors of `prompt=none` have the status of their redirect.
    ctx.status = Math.max(failure.statusCode, 400)
    const { error, error_description } = failure
    await renderError(ctx, { error, ...(error_description !== undefined && { error_description }) }, failure)
  })
}

/** OpenID Connect Core §3.1.2.6. */
const promptNoneErrors = ['login_required', 'consent_required', 'interaction_required', 'account_selection_required']

const mayRedirect = async ({ oidc }: KoaContextWithOIDC, { error }: errors.OIDCProviderError, database: Database) => {
  const { client, session, entities } = oidc
  // Without an application there is no redirect.
  if (!client || client.is_of_tenant === false) return true
  const userId = session?.accountId
  if (userId === undefined) return false
  if (oidc.prompts.has('none') && promptNoneErrors.includes(error)) return true
  const hasDecided = entities.Interaction?.prompt.name === 'consent'
  return hasDecided || hasConsented(database.read, userId, client.clientId)
}
