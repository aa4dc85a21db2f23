/** What we use of it; `@types/negotiator` does not know what we prefer. */
declare module 'negotiator' {
  // biome-ignore lint/style/noDefaultExport: the package has a default export
  export default class Negotiator {
    constructor(request: { headers: Record<string, string> })
    mediaType(available: readonly string[]): string | undefined
    encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined
  }
}
