import type { Pages } from '../http/pages/pages.ts'
import type { Visit } from '../http/pages/visit.ts'
import { nothingAt } from '../http/responses/problems.ts'
import { Problem } from '../problem.ts'
import { assetResponse, buildFolder, findAsset, read, types } from './assets.ts'
import type { FindSignInPlace } from './sign-in-place.ts'

/** Serves the pages of the console and their assets, which are read at each request, so that a new build is served at once. */
export const addConsole = (pages: Pages, findSignInPlace: FindSignInPlace, folder = buildFolder): void => {
  const page = async ({ request }: Visit, status?: number) => {
    const headers = { ...pageHeaders, 'content-security-policy': policy(await tokenOrigin(findSignInPlace)) }
    const asset = await findAsset(folder, request, 'index.html')
    if (asset) return assetResponse(request, asset, headers, status)
    return { status: 503, headers: { ...headers, 'content-type': types.html }, body: notBuilt }
  }
  pages.add(
    { path: '/', GET: (visit) => page(visit) },
    {
      path: '/assets/{file}',
      GET: async ({ request, params: { file = '' } }) => {
        const asset = /^[\w.-]{1,200}$/.test(file) ? await findAsset(folder, request, `assets/${file}`) : undefined
        // A page of an earlier build may ask for an asset that is gone.
        if (!asset) throw new Problem('not_found', `There is nothing at /assets/${file.slice(0, 200)}.`)
        return assetResponse(request, asset, { 'cache-control': 'public, max-age=31536000, immutable' })
      },
    },
  )
  pages.nothing = async (visit) => {
    const { method, url, request } = visit
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && (await isPage(folder, url))) return page(visit)
    if (method !== 'GET' || !request.headers.accept?.includes('text/html')) throw nothingAt(url)
    // A browser shows the page of the console that says so.
    return page(visit, 404)
  }
}

const pageHeaders = {
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** The origin from which the console gets its tokens; empty when it is unknown, which the page then reports. */
const tokenOrigin = async (find: FindSignInPlace): Promise<string> => {
  try {
    const { issuer, endpoints } = await find()
    return new URL(endpoints?.token ?? issuer).origin
  } catch (error) {
    if (error instanceof Problem) return ''
    throw error
  }
}

/** Scripts and styles are our own files, and tokens are sent only to this service and its authorization server. */
const policy = (origin: string): string =>
  [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'",
    // The reference of the API is a page of ours in a frame.
    `connect-src 'self' ${origin}; frame-src 'self'`,
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ].join('; ')

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Masthead</title>
<h1>The console has not been built</h1><p>Run <code>npm run build</code> and load this page again; the service need not be restarted.
The API works without it.</html>`

const isPage = async (folder: URL, url: string): Promise<boolean> => {
  const [path = ''] = url.split('?', 1)
  return (await readPatterns(folder)).some((pattern) => pattern.test(path))
}

/** The console writes paths as `/accounts/$id`. */
const readPatterns = async (folder: URL): Promise<RegExp[]> => {
  const paths: string[] = JSON.parse((await read(folder, 'paths.json'))?.toString() ?? '[]')
  return paths.map((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+').replace(/\/$/, '')}/?$`))
}
