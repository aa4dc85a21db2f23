import type { ExportFilters, ListedName } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { selectionOf } from '../../transfer/export/selection.ts'

/** What a list would refuse, an export refuses at once, before anybody waits for it. */
export const requireFilters = async (
  tenant: TenantDatabase,
  resources: readonly ListedName[],
  filters: ExportFilters,
): Promise<void> => {
  for (const [name, given] of Object.entries(filters)) {
    const resource = resources.find((one) => one === name)
    if (!resource) {
      const detail = `\`${name}\` is not among the \`resources\` of this export.`
      throw invalidProperty(`filters/${name}`, 'not_exported', detail)
    }
    await selectionOf(tenant, resource, given).catch((error) => {
      throw inBody(error, resource)
    })
  }
}

/** The query of a list has parameters, where a body has places. */
const inBody = (error: unknown, resource: string): unknown => {
  if (!(error instanceof Problem) || error.code !== 'invalid_parameter') return error
  const errors = error.errors.map((place) =>
    'parameter' in place
      ? { pointer: `/filters/${resource}/${place.parameter}`, code: place.code, detail: place.detail }
      : place,
  )
  return new Problem('invalid_body', error.message, { errors })
}
