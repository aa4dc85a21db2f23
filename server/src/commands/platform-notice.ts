/** What an operator must know of the platform before relying on it; docs/operating.md has the whole table. */
export const platformNotice = (platform: NodeJS.Platform = process.platform): string | null => {
  if (platform === 'darwin')
    return 'Masthead is not tested on macOS: use Linux for production. Its own PostgreSQL does not start where packages were installed with --ignore-scripts'
  if (platform === 'win32')
    return 'Masthead is not tested on Windows, where only Ctrl-C lets it answer what is in flight: use Linux for production'
  return null
}
