import { customerApi, managementApi, scopePrefix } from '@masthead/contract'
import type { AdapterPayload } from 'oidc-provider'
import { type Application, consoleId } from '../identity/people/applications.ts'

const consoleScopes = [customerApi, managementApi].flatMap((api) => api.scopes.map((scope) => api.scopePrefix + scope))

/** An application as a client of the provider: public, with PKCE, for the code flow. */
export const clientMetadata = (application: Application, baseUrl: string): AdapterPayload => {
  const { clientId, name, redirectUris, scopes, isNative, mayRefresh, tenantId } = application
  const isConsole = clientId === consoleId
  return {
    client_id: clientId,
    client_name: name,
    application_type: isNative ? 'native' : 'web',
    redirect_uris: isConsole ? [`${baseUrl}/signed-in`] : redirectUris,
    grant_types: ['authorization_code', ...(mayRefresh ? ['refresh_token'] : [])],
    is_of_tenant: tenantId !== null,
    api_scopes: (isConsole ? consoleScopes : scopes.map((scope) => scopePrefix + scope)).join(' '),
  }
}
