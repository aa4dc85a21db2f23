import './design/tokens.css'
import './design/base.css'
import './design/controls.css'
import './design/layout.css'
import './design/table.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { applyTheme } from './design/theme.tsx'
import { router } from './router.tsx'
import { openSession, SessionProvider } from './session.tsx'

applyTheme()
const session = await openSession()
const queryClient = new QueryClient({
  // The client repeats what is worth it, by itself.
  defaultOptions: { queries: { retry: false, staleTime: 5_000 }, mutations: { retry: false } },
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
