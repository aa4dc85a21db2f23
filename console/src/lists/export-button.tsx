import type { ListedName } from '@masthead/contract'
import { lazy, Suspense, useState } from 'react'
import type { Parameters } from '../address.tsx'
import { DownloadIcon } from '../design/icons.tsx'
import { loadComponent } from '../load-component.ts'
import { filterQueryOf } from '../records/filters.ts'

const ExportDialog = lazy(() => loadComponent(async () => (await import('./export-dialog.tsx')).ExportDialog))

type ExportButtonProps = { name: ListedName; parameters: Parameters; today: string | undefined }

/** All records that the filters of the list leave, as a file for a spreadsheet. */
export const ExportButton = ({ name, parameters, today }: ExportButtonProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <DownloadIcon />
        Export CSV
      </button>
      {isOpen && (
        <Suspense>
          <ExportDialog
            name={name}
            filters={filterQueryOf(name, parameters, today)}
            fileName={`${name}-${today ?? 'export'}.csv`}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}
