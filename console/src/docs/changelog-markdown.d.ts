/** What the build makes of it, see changelog-module.ts. */
declare module '*/CHANGELOG.md' {
  export const releases: readonly { title: string; changes: readonly string[] }[]
}
