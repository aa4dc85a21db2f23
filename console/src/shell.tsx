import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { KeysHelp, useKeys } from './design/keys.tsx'
import { Done } from './done.tsx'
import { Frame } from './frame.tsx'
import { loadComponent } from './load-component.ts'
import { NoMember } from './no-member.tsx'
import { isOfPortal } from './paths.ts'
import { useFinder } from './search/use-finder.tsx'
import { useSession } from './session.tsx'
import { Sidebar } from './sidebar.tsx'
import { Welcome } from './welcome.tsx'

const Portal = lazy(() => loadComponent(async () => (await import('./docs/portal.tsx')).Portal))

/** What surrounds every page. */
export const Shell = () => {
  const isPortal = useRouterState({ select: ({ location }) => isOfPortal(location.pathname) })
  const { signedIn, refused } = useSession()
  if (isPortal)
    return (
      <Suspense>
        <Portal />
      </Suspense>
    )
  if (!signedIn) return <Welcome />
  return refused === undefined ? <Console /> : <NoMember of={refused} />
}

const Console = () => {
  const [isHelping, setHelping] = useState(false)
  useKeys({ '?': () => setHelping(true) })
  const { finder, open } = useFinder()
  return (
    <>
      <Frame
        home="/"
        sidebar={(isOpen) => <Sidebar isOpen={isOpen} onHelp={() => setHelping(true)} onSearch={open} />}
        onSearch={open}
      >
        <Done />
        <Outlet />
      </Frame>
      {finder}
      {isHelping && <KeysHelp onClose={() => setHelping(false)} />}
    </>
  )
}
