/** Without the slash at its end. A path stays, for services behind one. */
export const baseAddress = (url: string | URL): string => {
  if (!URL.canParse(String(url)))
    throw new TypeError('`baseUrl` must be the address of the service, as https://api.example.com')
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}
