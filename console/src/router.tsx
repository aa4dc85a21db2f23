import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { parseAddress, writeAddress } from './address.tsx'
import { NotFound, PageTrouble } from './design/states.tsx'
import { pages } from './pages.ts'
import { Shell } from './shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const routes = Object.entries(pages).map(([path, load]) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, 'Page') }),
)

export const router = createRouter({
  routeTree: root.addChildren(routes),
  // Plain parameters, as the API takes them.
  parseSearch: parseAddress,
  stringifySearch: writeAddress,
  defaultPreload: 'intent',
  defaultErrorComponent: PageTrouble,
  scrollRestoration: true,
})
