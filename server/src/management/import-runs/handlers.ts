import { importPart, type ManagementResources } from '@masthead/contract'
import type { Call, Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { formatOfName } from '../../transfer/files/file-names.ts'
import { runInBackground } from '../../transfer/import/runner.ts'
import {
  addPart,
  createRun,
  findRun,
  type ImportRun,
  mayAnnounce,
  readRejectedRows,
  takeRun,
} from '../../transfer/import/runs.ts'
import { beginRun } from '../background-runs.ts'
import { json, notFound } from '../responses.ts'

type Operations = ManagementResources['importRuns']['operations']

const wrongName = 'The name must end in .csv, .tsv, .txt, .ndjson or .jsonl, or one of these and .gz.'
const tooManyFiles = 'Too many files wait to be imported: import some, or wait a day until they are gone.'

export const handlers: Handlers<ManagementResources['importRuns']> = {
  CreateImportRun: async ({ tenant, body: { fileName, resource } }) => {
    if (!formatOfName(fileName)) throw invalidProperty('fileName', 'format', wrongName)
    const run = await tenant.transaction(async (query) => {
      if (!(await mayAnnounce(query))) throw new Problem('conflict', tooManyFiles)
      return createRun(query, { kind: 'import', fileName, resource })
    })
    return json(run, `/import-runs/${run.id}`)
  },

  AddImportPart: ({ tenant, params: { runId }, body: { number, content } }) =>
    tenant.transaction(async (query) => {
      const run = found(await findRun(query, runId))
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content) || content.length % 4 !== 0)
        throw invalidProperty('content', 'format', `Send up to ${importPart.bytes} bytes in base64.`)
      if (!(await addPart(query, run.id, number, Buffer.from(content, 'base64'))))
        throw new Problem('conflict', 'This file is being read already: announce another one.')
      return json(found(await findRun(query, run.id)))
    }),

  CheckImport: (call) => begin(call, true),

  StartImport: (call) => begin(call, false),

  GetImportRun: async ({ tenant, params: { runId } }) => json(found(await findRun(tenant.read, runId))),

  GetRejectedRows: async ({ tenant, params: { runId } }) => {
    const { id } = found(await findRun(tenant.read, runId))
    const content = await readRejectedRows(tenant.read, id)
    if (content === null) throw notFound('file of refused rows')
    return json({ content })
  },
}

const begin = async (
  { tenant, writer, onError, params: { runId } }: Call<Operations['StartImport']> | Call<Operations['CheckImport']>,
  isTrial: boolean,
) => {
  const { kind, bytes } = found(await findRun(tenant.read, runId))
  if (kind === 'undo') throw notFound('import run')
  if (bytes === 0) throw new Problem('conflict', 'Nothing of the file has arrived yet.')
  return beginRun(tenant, async (release) => {
    const run = await tenant.transaction((query) => takeRun(query, runId))
    if (!run) throw new Problem('conflict', 'This file is being imported already, or has been.')
    runInBackground(tenant, { run, isTrial, author: writer.author }, { onError, release })
    return run
  })
}

const found = (run: ImportRun | null): ImportRun => {
  if (!run) throw notFound('import run')
  return run
}
