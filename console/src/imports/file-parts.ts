import type { ImportRun, Management } from '@masthead/client/management'
import { importPart } from '@masthead/contract'

export const mostBytes = importPart.bytes * importPart.most

/** Sends the file part by part, and answers the run that it belongs to. */
export const sendFile = async (
  management: Management,
  file: File,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (sent: number) => void },
): Promise<ImportRun> => {
  let run = await management.importRuns.create({ fileName: file.name }, { signal })
  for (let number = 1, start = 0; start < file.size; number++, start += importPart.bytes) {
    const content = await base64(file.slice(start, start + importPart.bytes))
    run = await management.importRuns.parts(run.id, { number, content }, { signal })
    onProgress(Math.min(start + importPart.bytes, file.size))
  }
  return run
}

const base64 = (part: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '')
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(part)
  })
