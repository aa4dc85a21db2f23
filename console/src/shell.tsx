import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { KeysHelp, useKeys } from './design/keys.tsx'
import { Done } from './done.tsx'
import { Frame } from './frame.tsx'
import { useSession } from './session.tsx'
import { Sidebar } from './sidebar.tsx'
import { Welcome } from './welcome.tsx'

const Portal = lazy(async () => ({ default: (await import('./docs/portal.tsx')).Portal }))

/** What surrounds every page. */
export const Shell = () => {
  const isPortal = useRouterState({ select: ({ location }) => location.pathname.startsWith('/docs') })
  const { signedIn } = useSession()
  if (isPortal)
    return (
      <Suspense>
        <Portal />
      </Suspense>
    )
  return signedIn ? <Console /> : <Welcome />
}

const Console = () => {
  const [isHelping, setHelping] = useState(false)
  useKeys({ '?': () => setHelping(true) })
  return (
    <>
      <Frame home="/" sidebar={(isOpen) => <Sidebar isOpen={isOpen} onHelp={() => setHelping(true)} />}>
        <Done />
        <Outlet />
      </Frame>
      {isHelping && <KeysHelp onClose={() => setHelping(false)} />}
    </>
  )
}
