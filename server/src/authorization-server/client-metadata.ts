import { customerApi, managementApi, scopePrefix } from '@masthead/contract'
import type { AdapterPayload } from 'oidc-provider'
import { type Application, consoleId } from '../identity/applications.ts'

/** An application as the provider knows a client: public, with PKCE, for the code flow. */
export const clientMetadata = (application: Application, baseUrl: string): AdapterPayload => ({
  client_id: application.clientId,
  client_name: application.name,
  application_type: application.isNative ? 'native' : 'web',
  redirect_uris: application.redirectUris,
  grant_types: ['authorization_code', ...(application.mayRefresh ? ['refresh_token'] : [])],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  is_of_tenant: application.tenantId !== null,
  api_scopes: application.scopes.map((scope) => scopePrefix + scope).join(' '),
  ...(application.clientId === consoleId && ofConsole(baseUrl)),
})

const ofConsole = (baseUrl: string) => ({
  redirect_uris: [`${baseUrl}/signed-in`],
  api_scopes: [customerApi, managementApi]
    .flatMap((api) => api.scopes.map((scope) => api.scopePrefix + scope))
    .join(' '),
})
