import { writeFile } from 'node:fs/promises'
import { messageOf } from '../../error-message.ts'
import { fileTrouble } from '../../file-trouble.ts'
import { Refusal } from '../../refusal.ts'

/** Writes a file where a command was told to with `--to`. It replaces none. */
export const writeNewFile = (path: string, content: string | Buffer): Promise<void> =>
  writeFile(path, content, { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EEXIST')
      throw new Refusal(`${path} is there already: remove it, or name another file with --to`, { cause })
    const trouble = fileTrouble(path, cause) ?? `${path}: ${messageOf(cause)}`
    throw new Refusal(`${trouble}: choose another place with --to`, { cause })
  })
