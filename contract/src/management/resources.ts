import { applications } from './applications.ts'
import { auditEntries } from './audit-entries.ts'
import { consents } from './consents.ts'
import { deliveries } from './deliveries.ts'
import { history } from './history.ts'
import { importRuns } from './import-runs.ts'
import { importTemplates } from './import-templates.ts'
import { imports } from './imports.ts'
import { invitations } from './invitations.ts'
import { legacySystem } from './legacy-system.ts'
import { me } from './me.ts'
import { members } from './members.ts'
import { overview } from './overview.ts'
import { serviceTokens } from './service-tokens.ts'
import { tenant } from './tenant.ts'
import { tokens } from './tokens.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

/** What the console needs beside the customer API, by the names that its client gives them. */
export const managementResources = {
  me,
  tenant,
  overview,
  tokens,
  consents,
  members,
  invitations,
  serviceTokens,
  applications,
  legacySystem,
  webhookEndpoints,
  deliveries,
  imports,
  importRuns,
  importTemplates,
  history,
  auditEntries,
} as const

export type ManagementResources = typeof managementResources
