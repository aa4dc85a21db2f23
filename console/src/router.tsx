import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { parseAddress, writeAddress } from './address.tsx'
import { NotFound, PagePending, PageTrouble } from './design/states.tsx'
import { loadComponent } from './load-component.ts'
import { pages } from './pages.ts'
import { inTenant, withoutTenant } from './paths.ts'
import { Shell } from './shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const routes = Object.entries(pages).map(([path, load]) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(() => loadComponent(async () => (await load()).Page)),
  }),
)

/** Pages and links know nothing of the tenant: it is put into every address of the console, and taken out again. */
export const newRouter = (tenant: string | null) =>
  createRouter({
    routeTree: root.addChildren(routes),
    rewrite: {
      input: ({ url }) => {
        url.pathname = withoutTenant(url.pathname)
        return url
      },
      output: ({ url }) => {
        if (tenant !== null) url.pathname = inTenant(tenant, url.pathname)
        return url
      },
    },
    // Plain parameters, as the API takes them.
    parseSearch: parseAddress,
    stringifySearch: writeAddress,
    defaultPreload: 'intent',
    defaultErrorComponent: PageTrouble,
    defaultPendingComponent: PagePending,
    scrollRestoration: true,
  })
