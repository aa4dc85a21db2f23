export * from './apis.ts'
export * from './changes.ts'
export * from './exports.ts'
export { type Comparison, type Content, type KeyForm, type Kind, longest, traitsOf } from './fields.ts'
export { type DeliveryState, deliveryStates } from './management/deliveries.ts'
export {
  dateOrders,
  decimalSigns,
  epochUnits,
  type ImportEncoding,
  type ImportEscapes,
  importEncodings,
  importEscapes,
  mostMembers,
} from './management/import-inspection.ts'
export { importPart } from './management/import-runs.ts'
export * from './management/resources.ts'
export { allows, type Role, roles } from './management/role.ts'
export * from './management/scopes.ts'
export { openapi } from './openapi.ts'
export { openapi30 } from './openapi-3.0.ts'
export * from './operation.ts'
export * from './operations.ts'
export * from './problems.ts'
export * from './record-fields.ts'
export * from './resources.ts'
export type { Route } from './route.ts'
export * from './scopes.ts'
export { basePath, documentPath, scopePrefix, version } from './version.ts'
export * from './webhook-events.ts'
