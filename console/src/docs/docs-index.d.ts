/** What the build makes of the pages of the portal, see docs-index-module.ts. */
declare module 'virtual:docs-index' {
  export const sections: readonly { to: string; page: string; section: string; text: string }[]
}
