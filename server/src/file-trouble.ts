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

/** What an error of the file system says of a folder, in plain words; null when it is another error. */
export const fileTrouble = (folder: string, error: unknown): string | null => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = reasons[code]
  return reason ? `${folder} ${reason}` : null
}
