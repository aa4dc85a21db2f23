import { importPart, type ManagementResources } from '@masthead/contract'
import type { TenantQuery } from '../../database/tenant-query.ts'
import type { Call, Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { cancelHere } from '../../transfer/runs/background-job.ts'
import { beginImportRun } from '../../transfer/runs/import-runner.ts'
import type { RunWork } from '../../transfer/runs/run-process.ts'
import {
  addPart,
  cancelRun,
  changeRun,
  createRun,
  findRun,
  mayAnnounce,
  readRejectedRows,
  takeRun,
} from '../../transfer/runs/runs.ts'
import { beginRun } from '../background-runs.ts'
import { existing, json, notFound } from '../responses.ts'

type Operations = ManagementResources['importRuns']['operations']

const tooManyFiles = 'Too many files wait to be imported: import some, or wait a day until they are gone.'

export const handlers: Handlers<ManagementResources['importRuns']> = {
  CreateImportRun: async ({ tenant, body: { fileName, resource } }) => {
    const run = await tenant.transaction(async (query) => {
      if (!(await mayAnnounce(query))) throw new Problem('conflict', tooManyFiles)
      return createRun(query, { kind: 'import', fileName, resource: resource ?? '' })
    })
    return json(run, `/import-runs/${run.id}`)
  },

  AddImportPart: ({ tenant, params: { runId }, body: { number, content } }) =>
    tenant.transaction(async (query) => {
      const run = await runOf(query, runId)
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content) || content.length % 4 !== 0)
        throw invalidProperty('content', 'format', `Send up to ${importPart.bytes} bytes in base64.`)
      if (!(await addPart(query, run.id, number, Buffer.from(content, 'base64'))))
        throw new Problem('conflict', 'This file is being read already: announce another one.')
      return json(await runOf(query, run.id))
    }),

  UpdateImportRun: ({ tenant, params: { runId }, body: { resource, options } }) =>
    tenant.transaction(async (query) => {
      const run = await runOf(query, runId)
      if (!(await changeRun(query, run.id, { resource, options })))
        throw new Problem('conflict', 'This file is being read, or has been imported.')
      return json(await runOf(query, run.id))
    }),

  InspectImport: (call) => begin(call, 'inspect'),

  CheckImport: (call) => begin(call, 'check'),

  StartImport: (call) => begin(call, 'import'),

  CancelImport: async ({ tenant, params: { runId } }) => {
    const run = await tenant.transaction(async (query) => {
      const { id } = await runOf(query, runId)
      if (!(await cancelRun(query, id))) throw new Problem('conflict', 'Nothing is running that could be cancelled.')
      return runOf(query, id)
    })
    cancelHere(run.id)
    return json(run)
  },

  GetImportRun: async ({ tenant, params: { runId } }) => json(await runOf(tenant.read, runId)),

  GetRejectedRows: async ({ tenant, params: { runId } }) => {
    const { id } = await runOf(tenant.read, runId)
    const rows = existing('file of refused rows', await readRejectedRows(tenant.read, id))
    return json({ fileName: rows.name, content: rows.file.toString('base64') })
  },
}

const begin = async (
  { tenant, writer, onError, params: { runId } }: Call<Operations['InspectImport' | 'CheckImport' | 'StartImport']>,
  work: RunWork['work'],
) => {
  const { kind, bytes } = await runOf(tenant.read, runId)
  if (kind === 'undo') throw notFound('import run')
  if (bytes === 0) throw new Problem('conflict', 'Nothing of the file has arrived yet.')
  return beginRun(tenant, async (release) => {
    const run = await tenant.transaction((query) => takeRun(query, runId))
    if (!run) throw new Problem('conflict', 'This file is being imported already, or has been.')
    beginImportRun(tenant, { run, work, author: writer.author }, { onError, release })
    return run
  })
}

const runOf = async (query: TenantQuery, id: string) => existing('import run', await findRun(query, id))
