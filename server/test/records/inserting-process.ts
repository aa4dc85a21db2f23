import { serviceRole } from '../../src/database/connections/address.ts'
import { openDatabase } from '../../src/database/database.ts'
import { insertRecords } from '../../src/records/writes/write.ts'
import { SeededRandom } from '../../src/transfer/demo/seeded-random.ts'
import { sampleContact } from './sample-records.ts'

/**
 * A process of its own that adds contacts until it is told to stop, as another node of the service would: some for each page
 * that a walk has read, so that no walk is outrun. Now and then it keeps its transaction open, so that it commits long after
 * its ids were made, or gives it up.
 */
const [connectionString = '', tenantId = '', accountId = '', seed = ''] = process.argv.slice(2)
const random = new SeededRandom(Number(seed))
const database = openDatabase({ connectionString: connectionString, role: serviceRole })
const tenant = database.forTenant(tenantId)
let [isStopped, pages] = [false, 0]
let wake = () => {}
process.on('message', (message) => {
  if (message === 'stop') isStopped = true
  else pages++
  wake()
})

class GivenUp extends Error {}

const insertSome = async (): Promise<number> => {
  const contacts = Array.from({ length: random.between(1, 5) }, () => sampleContact(accountId))
  try {
    await tenant.transaction(async (query) => {
      await insertRecords(query, 'contacts', contacts)
      if (random.chance(20)) await query.withoutTenant({ text: 'select pg_sleep(0.02)' })
      if (random.chance(10)) throw new GivenUp()
    })
    return contacts.length
  } catch (error) {
    if (error instanceof GivenUp) return 0
    throw error
  }
}

let inserted = 0
while (inserted === 0) inserted = await insertSome()
process.send?.('inserting')
while (!isStopped) {
  if (pages === 0) await new Promise<void>((resolve) => (wake = resolve))
  else {
    pages--
    inserted += await insertSome()
  }
}
await database.close()
process.send?.(inserted)
process.disconnect()
