/** Without the slash at its end. A path stays, for services behind one. */
export const baseAddress = (url: string | URL): string => {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}
