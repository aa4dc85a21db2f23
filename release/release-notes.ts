/** What the changelog says of a version, or undefined where it says nothing. */
export const notesOf = (changelog: string, version: string): string | undefined => {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`${version}\n`))
  const text = section?.slice(version.length).trim()
  return text && `# Masthead ${version}\n\n${text}\n`
}
