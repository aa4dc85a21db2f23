/** What `pg` exports and has no types for. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue: (value: unknown) => string | Buffer | null }
  // biome-ignore lint/style/noDefaultExport: so it is
  export default utils
}
