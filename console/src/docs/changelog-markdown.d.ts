/** What the build makes of it, see changelog-module.ts. */
declare module '*/CHANGELOG.md' {
  type Piece = { kind: 'text' | 'code' | 'strong' | 'link'; text: string; href?: string }
  export const releases: readonly { title: string; changes: readonly (readonly Piece[])[] }[]
}
