import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Link } from './address.tsx'
import { MenuIcon } from './design/icons.tsx'
import { KeysHelp, useKeys } from './design/keys.tsx'
import { Done } from './done.tsx'
import { useSession } from './session.tsx'
import { Sidebar } from './sidebar.tsx'
import { Welcome } from './welcome.tsx'

/** What surrounds every page. */
export const Shell = () => {
  const { pathname, isLoading } = useRouterState({
    select: ({ location, isLoading }) => ({ pathname: location.pathname, isLoading }),
  })
  const { signedIn } = useSession()
  if (pathname.startsWith('/docs')) return <Outlet />
  if (!signedIn) return <Welcome />
  return <Frame pathname={pathname} isLoading={isLoading} />
}

const Frame = ({ pathname, isLoading }: { pathname: string; isLoading: boolean }) => {
  const [isNavigating, setNavigating] = useState(false)
  const [isHelping, setHelping] = useState(false)
  const main = useRef<HTMLElement>(null)
  const before = useRef(pathname)
  useKeys({ '?': () => setHelping(true), Escape: isNavigating ? () => setNavigating(false) : undefined })
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    setNavigating(false)
    // Whoever does not see it learns that there is another page.
    main.current?.focus({ preventScroll: true })
  }, [pathname])
  return (
    <div className="shell">
      <a className="button skip" href="#main">
        Skip to the content
      </a>
      {isLoading && <div className="bar" />}
      <header className="top-bar">
        <button
          type="button"
          className="button quiet square"
          aria-label="Navigation"
          aria-expanded={isNavigating}
          onClick={() => setNavigating(true)}
        >
          <MenuIcon />
        </button>
        <Link to="/" className="wordmark">
          Masthead
        </Link>
      </header>
      {isNavigating && (
        <button
          type="button"
          className="scrim"
          aria-label="Close the navigation"
          onClick={() => setNavigating(false)}
        />
      )}
      <Sidebar isOpen={isNavigating} onHelp={() => setHelping(true)} />
      <main id="main" ref={main} tabIndex={-1}>
        <Done />
        <Outlet />
      </main>
      {isHelping && <KeysHelp onClose={() => setHelping(false)} />}
    </div>
  )
}
