import { readConfig } from '../config.ts'
import type { TenantDatabase } from '../database/database.ts'
import { findTenant } from '../identity/people/tenants.ts'
import { installationSecret } from '../identity/tokens/installation-secret.ts'
import { loadSigningKeys } from '../identity/tokens/signing-keys.ts'
import { readEndpointUrl } from '../webhooks/addresses.ts'
import { withDatabase } from './with-database.ts'

/** Works with the secret of the installation. Reads the address, if one is given, before anything is asked of the database. */
export const withSecret = async <T>(
  slug: string,
  given: string | null,
  work: (tenant: TenantDatabase, installation: string, url: string) => Promise<T>,
): Promise<T> => {
  const config = readConfig()
  const url = given === null ? '' : await readEndpointUrl(given, config.allowPrivateAddresses)
  const installation = await installationSecret(config)
  return withDatabase(async (database) => {
    const { id } = await findTenant(database.query, slug)
    // This refuses a MASTHEAD_SECRET other than that of the servers, which could not decrypt what it encrypts.
    await loadSigningKeys(database.query, installation)
    return work(database.forTenant(id), installation, url)
  })
}
