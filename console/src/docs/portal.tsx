import './portal.css'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { Link } from '../address.tsx'
import { ThemeSwitch } from '../design/theme.tsx'
import { Frame } from '../frame.tsx'
import { useSession } from '../session.tsx'
import { changelog, type Entry, guides, openapi, reference, start } from './contents.ts'
import { ReaderProvider } from './reader.tsx'
import { SearchBox } from './search-box.tsx'

/** What surrounds every page of the portal. */
export const Portal = () => (
  <ReaderProvider>
    <Frame home="/docs" sidebar={(isOpen) => <Contents isOpen={isOpen} />}>
      <Outlet />
    </Frame>
  </ReaderProvider>
)

const Contents = ({ isOpen }: { isOpen: boolean }) => {
  const { signedIn } = useSession()
  return (
    <aside className="sidebar" aria-label="Contents" data-open={isOpen}>
      <Link to="/docs" className="wordmark">
        Masthead <small>for developers</small>
      </Link>
      <SearchBox />
      <nav aria-label="Portal">
        <ul>
          <Line {...start} />
        </ul>
        <div>
          <p className="nav-heading">Guides</p>
          <ul>
            {guides.map((entry) => (
              <Line key={entry.to} {...entry} />
            ))}
          </ul>
        </div>
        <div>
          <p className="nav-heading">Look up</p>
          <ul>
            <Line {...reference} />
            <li>
              <a className="nav-link" href={openapi.href}>
                {openapi.label}
              </a>
            </li>
            <Line {...changelog} />
          </ul>
        </div>
      </nav>
      <div className="sidebar-foot">
        {signedIn && (
          <p className="switcher plain">
            <span>
              {signedIn.me.name}
              <small>{signedIn.me.tenant.name}</small>
              <small>{signedIn.me.email}</small>
            </span>
          </p>
        )}
        <div className="portal-foot">
          {signedIn ? <Link to="/">To the console</Link> : <a href="/">To the console</a>}
          <ThemeSwitch />
        </div>
      </div>
    </aside>
  )
}

const Line = ({ to, label }: Entry) => {
  const isHere = useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, '') === to })
  return (
    <li>
      <Link to={to} className="nav-link" {...(isHere && { 'aria-current': 'page' })}>
        {label}
      </Link>
    </li>
  )
}
