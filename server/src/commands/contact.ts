import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import type { Database } from '../database/database.ts'
import { findTenant, listTenants, type Tenant } from '../identity/people/tenants.ts'
import { isUuid } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { eraseContact } from '../resources/contacts/erasure.ts'
import { isKnownContact } from '../resources/contacts/queries.ts'
import { action } from './action.ts'
import { faint, showLines, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

export const contact = (): Command => {
  const command = new Command('contact').description('erase personal data')

  action(
    command
      .command('erase <id>')
      .description('remove a contact and everything that is stored about it, permanently')
      .option('--tenant <slug>', 'the tenant, when several have a contact of this id'),
    (given: string, options: { tenant?: string }) =>
      withDatabase(async (database) => {
        // The audit log and stored responses hold ids as text, in small letters.
        const id = given.toLowerCase()
        const tenant = await tenantOf(database, id, options.tenant)
        return { id, tenant: tenant.slug, ...(await eraseContact(database.forTenant(tenant.id), operator, id)) }
      }),
    ({ id, tenant, images, answers, deliveries, exports }) =>
      showLines(
        `Contact ${strong(id)} of ${tenant} is erased, with ${images} undo images, ${answers} idempotency records, ${deliveries} deliveries and ${exports} exports.`,
        faint('Backups, files that were exported or downloaded, and a legacy system may still hold it.'),
      ),
  )

  return command
}

const tenantOf = async (database: Database, id: string, slug: string | undefined): Promise<Tenant> => {
  if (!isUuid(id))
    throw new Refusal(
      `"${id}" is not the id of a contact: copy it from the API, or from the page of the contact in the console`,
    )
  const tenants = slug === undefined ? await listTenants(database.query) : [await findTenant(database.query, slug)]
  const holders: Tenant[] = []
  for (const tenant of tenants) if (await isKnownContact(database.forTenant(tenant.id), id)) holders.push(tenant)
  const [holder, another] = holders
  if (!holder)
    throw new Refusal(
      `nothing is known of a contact ${id}${slug === undefined ? '' : ` in ${slug}`}: see whether it is whole, and of this database`,
    )
  if (another)
    throw new Refusal(`${holders.map((one) => one.slug).join(', ')} have such a contact: say --tenant <slug>`)
  return holder
}
