import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from './address.tsx'
import { useConnection } from './connection.ts'
import { CautionIcon, MenuIcon, SearchIcon } from './design/icons.tsx'
import { useKeys } from './design/keys.tsx'
import type { Path } from './paths.ts'

type FrameProps = {
  home: Path
  sidebar: (isOpen: boolean) => ReactNode
  /** Opens the search, where there is one. */
  onSearch?: () => void
  children: ReactNode
}

/** Navigation beside the page; on a phone it opens above it. */
export const Frame = ({ home, sidebar, onSearch, children }: FrameProps) => {
  const { pathname, isLoading } = useRouterState({
    select: ({ location, isLoading }) => ({ pathname: location.pathname, isLoading }),
  })
  const [isNavigating, setNavigating] = useState(false)
  const main = useRef<HTMLElement>(null)
  const before = useRef(pathname)
  useKeys({ Escape: isNavigating ? () => setNavigating(false) : undefined })
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
        <Link to={home} className="wordmark">
          Masthead
        </Link>
        {onSearch && (
          <button type="button" className="button quiet square push" aria-label="Search everything" onClick={onSearch}>
            <SearchIcon />
          </button>
        )}
      </header>
      {isNavigating && (
        <button
          type="button"
          className="scrim"
          aria-label="Close the navigation"
          onClick={() => setNavigating(false)}
        />
      )}
      {sidebar(isNavigating)}
      <main id="main" ref={main} tabIndex={-1}>
        <ConnectionNotice />
        {children}
      </main>
    </div>
  )
}

/** Says that nothing answers, for as long as that is so. It is there before it has something to say, or nobody would hear it. */
const ConnectionNotice = () => {
  const connection = useConnection()
  return (
    <output className="connection">
      {connection !== 'reached' && (
        <span className="connection-text fades-in">
          <CautionIcon />
          {connection === 'offline'
            ? 'You are offline. What you typed is kept, and the page goes on by itself when you are back.'
            : 'The service does not answer. What you typed is kept, and the page goes on by itself when it does.'}
        </span>
      )}
    </output>
  )
}
