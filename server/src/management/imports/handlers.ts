import type { ManagementResources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { listPastImports } from '../../transfer/import/past-imports.ts'
import { beginImportRun } from '../../transfer/runs/import-runner.ts'
import { createRun, takeRun } from '../../transfer/runs/runs.ts'
import { beginRun } from '../background-runs.ts'
import { existing, json } from '../responses.ts'

export const handlers: Handlers<ManagementResources['imports']> = {
  GetImports: async ({ tenant }) => json({ items: await listPastImports(tenant) }),

  UndoImport: async ({ tenant, writer, onError, params: { importId } }) => {
    const past = (await listPastImports(tenant)).find(({ id }) => id === importId)
    if (existing('import', past).state === 'undone') throw new Problem('conflict', 'This import was undone already.')
    return beginRun(tenant, async (release) => {
      const run = await tenant.transaction(async (query) => {
        const { id } = await createRun(query, { kind: 'undo', fileName: '', resource: '', importId })
        return takeRun(query, id)
      })
      if (!run) throw new Error('the run was not stored')
      beginImportRun(tenant, { run, work: 'import', author: writer.author }, { onError, release })
      return run
    })
  },
}
