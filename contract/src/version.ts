/** The version label of the interface description, and the base path that carries its major part. */
export const version = '1.0.0'
export const basePath = '/customer-api/v1'

/** Where a running service has the document of this API. */
export const documentPath = `${basePath}/openapi.json`

/** Applications ask for scopes of this API by this prefix. */
export const scopePrefix = 'service-api/'
