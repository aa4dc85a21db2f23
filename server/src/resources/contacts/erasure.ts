import type { Author } from '../../audit/author.ts'
import { audit, destroyKey } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { deleteIdempotencyRecordsAbout } from '../../database/idempotency-records.ts'
import { lockHead, writeRecords } from '../../records/writes/write.ts'
import { withdrawExports } from '../../transfer/export/export-jobs.ts'
import { deleteImages } from '../../transfer/import/journal.ts'
import { deleteRuns } from '../../transfer/runs/runs.ts'
import { deleteEventsOf } from '../../webhooks/events/queries.ts'

/** Nothing stays but that there was a contact of this id, and who did what when. */
export const eraseContact = (tenant: TenantDatabase, author: Author, id: string) =>
  tenant.transaction(async (query) => {
    await lockHead(query, 'contacts')
    await writeRecords(query, 'contacts', [{ before: { id }, after: null, author: null }])
    const images = await deleteImages(query, 'contacts', id)
    // Exports come before the idempotency records, because a request for an export locks in this order too.
    const { ids, withdrawn } = await withdrawExports(query, 'contacts')
    const idempotencyRecords = await deleteIdempotencyRecordsAbout(query, [id, ...ids])
    const deliveries = await deleteEventsOf(query, id)
    await deleteRuns(query)
    await destroyKey(query, 'contacts', id)
    await audit(query, author, [{ action: 'erased', resource: 'contacts', recordId: id }])
    // `masthead contact erase --json` shows these names to scripts.
    return { images, answers: idempotencyRecords, deliveries, exports: withdrawn }
  })
