import type { ListedName } from '@masthead/contract'
import { useState } from 'react'
import { Copied } from '../design/copied.tsx'
import { formatInstant } from '../design/formats.ts'
import { type AnyRecord, kinds } from '../records/kinds.ts'

/** What programs need of a record, for who asks for it. */
export const RawRecord = ({ name, record }: { name: ListedName; record: AnyRecord }) => {
  const [isOpen, setOpen] = useState(false)
  const { updatedAt } = record
  const changed = typeof updatedAt === 'string' ? `, changed ${formatInstant(updatedAt)}` : ''
  return (
    <details className="folded" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Identifiers and raw data</summary>
      {isOpen && (
        <div className="card padded section">
          <Copied label="Id" text={record.id} />
          <Copied
            label={`The ${kinds[name].singular} as the API shows it${changed}`}
            text={JSON.stringify(record, null, 2)}
          />
        </div>
      )}
    </details>
  )
}
