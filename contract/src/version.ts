/** The version label of the interface description, and the base path that carries its major part. */
export const version = '1.0.0'
export const basePath = '/customer-api/v1'

/** Applications ask for scopes of this API by this prefix. */
export const scopePrefix = 'service-api/'
