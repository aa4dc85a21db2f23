import { documentPath } from '@masthead/contract'
import type { Pages } from '../http/pages/pages.ts'
import { Problem } from '../problem.ts'
import { assetResponse, buildFolder, findAsset } from './assets.ts'

/** The page of the portal at `/docs/reference` shows this one in a frame, because the library writes styles into its page. */
const path = '/docs/reference/frame'
const scripts = { library: `${path}/scalar.js`, start: `${path}/start.js` }

/** The reference for people. Its library is an asset of the console. */
export const addReference = (pages: Pages, issuer: string): void => {
  const headers = { ...pageHeaders, 'content-security-policy': policy(issuer) }
  pages.add(
    { path, GET: async () => ({ headers, body: page }) },
    { path: scripts.start, GET: async () => ({ headers: scriptHeaders, body: start }) },
    {
      path: scripts.library,
      GET: async ({ request }) => {
        const library = await findAsset(buildFolder, request, 'scalar.js')
        if (!library) throw new Problem('not_found', 'The console has not been built: run `npm run build`.')
        return assetResponse(request, library, scriptHeaders)
      },
    },
  )
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const scriptHeaders = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
}

/** As for the console; only styles are written into the page by the library. */
const policy = (issuer: string): string =>
  [
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:",
    `connect-src 'self' ${new URL(issuer).origin}`,
    "form-action 'self'; frame-ancestors 'self'; base-uri 'none'",
  ].join('; ')

const configuration = {
  url: documentPath,
  authentication: { preferredSecurityScheme: 'personalAccessToken' },
  // Nothing on the page reaches for a service outside.
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  // The portal has the colours, and the switch between light and dark.
  theme: 'none',
  hideDarkModeToggle: true,
}

/** The colours are those of the console, see console/src/design/tokens.css. */
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reference · Masthead</title>
<style>
  body { margin: 0; }
  .light-mode, .dark-mode { --scalar-font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
    --scalar-font-code: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
  .light-mode { color-scheme: light; --scalar-background-1: #ffffff; --scalar-background-2: #f6f4f0; --scalar-background-3: #efece6;
    --scalar-background-accent: #e9eff7; --scalar-color-1: #1b1d21; --scalar-color-2: #5c5f66; --scalar-color-3: #5c5f66;
    --scalar-color-accent: #1c4a7d; --scalar-border-color: #e5e1d9; --scalar-button-1: #1c4a7d; --scalar-button-1-hover: #143a65;
    --scalar-button-1-color: #ffffff; --scalar-color-green: #1d5e3a; --scalar-color-red: #9b1c1c; --scalar-color-yellow: #6b4a00;
    --scalar-color-orange: #6b4a00; --scalar-color-blue: #1c4a7d; --scalar-color-purple: #5b3a8c; }
  .dark-mode { color-scheme: dark; --scalar-background-1: #1a1c20; --scalar-background-2: #121316; --scalar-background-3: #2a2d33;
    --scalar-background-accent: #20303f; --scalar-color-1: #eceae5; --scalar-color-2: #a9abb2; --scalar-color-3: #a9abb2;
    --scalar-color-accent: #9cc3f2; --scalar-border-color: #2e3137; --scalar-button-1: #9cc3f2; --scalar-button-1-hover: #bcd7f7;
    --scalar-button-1-color: #0e2138; --scalar-color-green: #93d7ae; --scalar-color-red: #ffb4ab; --scalar-color-yellow: #f2cf86;
    --scalar-color-orange: #f2cf86; --scalar-color-blue: #9cc3f2; --scalar-color-purple: #c9b3f2; }
</style>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The same is in <a href="${configuration.url}">the OpenAPI document</a>.</noscript>
<script src="${scripts.library}"></script>
<script src="${scripts.start}"></script>
</html>
`

/** In light or dark as the reader chose, and with the token that the portal has for them. */
const start = `const readDark = () => {
  const theme = localStorage.getItem('masthead.theme') ?? 'system'
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}
const place = document.getElementById('reference')
let shown
const show = (token) => {
  if (shown && shown.token === token) return
  shown?.reference.destroy()
  place.replaceChildren()
  const configuration = ${JSON.stringify(configuration)}
  if (token) configuration.authentication.securitySchemes = { personalAccessToken: { token } }
  shown = { token, reference: Scalar.createApiReference(place, { ...configuration, darkMode: readDark() }) }
}
const colour = () => {
  const isDark = readDark()
  document.body.classList.toggle('dark-mode', isDark)
  document.body.classList.toggle('light-mode', !isDark)
}
addEventListener('storage', colour)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', colour)
if (parent === window) show(null)
else {
  addEventListener('message', ({ origin, source, data }) => {
    if (origin === location.origin && source === parent) show(data.token)
  })
  const tellPlace = () => parent.postMessage({ hash: location.hash }, location.origin)
  // The library changes the address in silence.
  if (window.navigation) navigation.addEventListener('currententrychange', tellPlace)
  else addEventListener('hashchange', tellPlace)
  parent.postMessage({ isReady: true }, location.origin)
}
`
