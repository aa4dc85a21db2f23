import { codeOf } from './error-message.ts'

const reasons: Record<string, string> = {
  EACCES: 'may not be written to by this user',
  EPERM: 'may not be written to by this user',
  ENOENT: 'cannot be made there',
  EROFS: 'lies on a disk that can only be read',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies below something that is no folder',
  ENOSPC: 'lies on a disk that is full',
  EDQUOT: 'lies on a disk of which this user has used up the quota',
  EFBIG: 'cannot hold files this large',
}

/** Describes an error of the file system in plain words; returns null for other errors. */
export const fileTrouble = (folder: string, error: unknown): string | null => {
  const reason = reasons[codeOf(error)]
  return reason ? `${folder} ${reason}` : null
}
