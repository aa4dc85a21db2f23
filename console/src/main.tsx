import './design/tokens.css'
import './design/base.css'
import './design/controls.css'
import './design/layout.css'
import './design/table.css'
import { isProblem } from '@masthead/client'
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { noteFailure } from './connection.ts'
import { applyTheme } from './design/theme.tsx'
import { newRouter } from './router.tsx'
import { openSession, SessionProvider } from './session.tsx'

applyTheme()
const session = await openSession()
const router = newRouter(session.refused ?? session.signedIn?.me.tenant.slug ?? null)

/** What the service could not answer for a while is read again. */
const unavailablePauseMilliseconds = 5_000
const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      // The client repeats what is worth it, by itself.
      retry: false,
      staleTime: 5_000,
      refetchInterval: ({ state: { error } }) => isProblem(error, 'unavailable') && unavailablePauseMilliseconds,
    },
    mutations: { retry: false },
  },
})

const place = document.getElementById('console')
if (!place) throw new Error('the page has no place for the console')
createRoot(place).render(
  <StrictMode>
    <SessionProvider value={session}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </SessionProvider>
  </StrictMode>,
)
