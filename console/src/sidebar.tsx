import { useRouterState } from '@tanstack/react-router'
import { type ComponentType, useEffect, useRef, useState } from 'react'
import { Link } from './address.tsx'
import {
  AllowedIcon,
  ApplicationIcon,
  CheckIcon,
  ChevronIcon,
  DocsIcon,
  ImportIcon,
  KeyIcon,
  LockIcon,
  MembersIcon,
  OverviewIcon,
  SearchIcon,
  ServiceIcon,
  SettingsIcon,
  TrailIcon,
  WebhookIcon,
} from './design/icons.tsx'
import { Menu } from './design/menu.tsx'
import { Question } from './design/question.tsx'
import { Trouble } from './design/states.tsx'
import { ThemeSwitch } from './design/theme.tsx'
import { inTenant, type Path } from './paths.ts'
import { groupedNames, kinds } from './records/kinds.ts'
import { finderKeys } from './search/use-finder.tsx'
import { isSessionOver, signOut, useMe, useSignedIn } from './session.tsx'

type Entry = { to: Path; label: string; Icon: ComponentType }
type Group = { heading: string | null; onlyAdmins?: true; entries: Entry[] }

/** The navigation: a page that is to be found here has a line. */
const navigation: Group[] = [
  { heading: null, entries: [{ to: '/', label: 'Overview', Icon: OverviewIcon }] },
  ...groupedNames.map(({ group, names }) => ({
    heading: group,
    entries: names.map((name) => ({ to: kinds[name].list, label: kinds[name].plural, Icon: kinds[name].Icon })),
  })),
  {
    heading: 'Your access',
    entries: [
      { to: '/settings/password', label: 'Password', Icon: LockIcon },
      { to: '/settings/tokens', label: 'Access tokens', Icon: KeyIcon },
      { to: '/settings/applications-allowed', label: 'Allowed applications', Icon: AllowedIcon },
    ],
  },
  {
    heading: 'Administration',
    onlyAdmins: true,
    entries: [
      { to: '/admin/members', label: 'Members', Icon: MembersIcon },
      { to: '/admin/service-tokens', label: 'Service tokens', Icon: ServiceIcon },
      { to: '/admin/applications', label: 'Applications', Icon: ApplicationIcon },
      { to: '/admin/webhooks', label: 'Webhooks', Icon: WebhookIcon },
      { to: '/admin/imports', label: 'Imports', Icon: ImportIcon },
      { to: '/admin/audit', label: 'Audit trail', Icon: TrailIcon },
      { to: '/admin/settings', label: 'Settings', Icon: SettingsIcon },
    ],
  },
]

type SidebarProps = { isOpen: boolean; onHelp: () => void; onSearch: () => void }

export const Sidebar = ({ isOpen, onHelp, onSearch }: SidebarProps) => {
  const { tenant } = useMe()
  const groups = navigation.filter(({ onlyAdmins }) => !onlyAdmins || tenant.role === 'admin')
  return (
    <aside className="sidebar" data-open={isOpen} aria-label="Console">
      <Link to="/" className="wordmark">
        Masthead
      </Link>
      <TenantSwitcher />
      <button type="button" className="button find" onClick={onSearch}>
        <SearchIcon />
        <span className="grow">Search</span>
        <kbd>{finderKeys}</kbd>
      </button>
      <nav aria-label="Main">
        {groups.map(({ heading, entries }) => (
          <div key={heading}>
            {heading && <p className="nav-heading">{heading}</p>}
            <ul>
              {entries.map((entry) => (
                <li key={entry.to}>
                  <NavigationLink {...entry} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="sidebar-foot">
        <Link to="/docs" className="nav-link">
          <DocsIcon />
          Documentation
        </Link>
        <PersonMenu onHelp={onHelp} />
      </div>
    </aside>
  )
}

const NavigationLink = ({ to, label, Icon }: Entry) => {
  const pathname = useRouterState({ select: ({ location }) => location.pathname })
  const isHere = pathname === to || (to !== '/' && pathname.startsWith(`${to}/`))
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    const nav = link.current?.closest('nav')
    if (!isHere || !link.current || !nav) return
    // Not by scrollIntoView: that is also where the next Tab would begin.
    const hidden = link.current.getBoundingClientRect().bottom - nav.getBoundingClientRect().bottom
    if (hidden > 0) nav.scrollTop += hidden
  }, [isHere])
  return (
    <Link ref={link} to={to} className="nav-link" {...(isHere && { 'aria-current': 'page' })}>
      <Icon />
      {label}
    </Link>
  )
}

const TenantSwitcher = () => {
  const { tenant, tenants } = useMe()
  if (tenants.length < 2)
    return (
      <p className="switcher plain">
        <span>{tenant.name}</span>
      </p>
    )
  return (
    <Menu
      opens="down start"
      buttonClass="switcher"
      label={`Organisation: ${tenant.name}`}
      button={
        <>
          <span>{tenant.name}</span>
          <ChevronIcon />
        </>
      }
    >
      {() =>
        tenants.map(({ id, slug, name }) => (
          // Another tenant is another page, which may be opened in a tab of its own.
          <a key={id} className="menu-item" aria-current={id === tenant.id} href={inTenant(slug, '/')}>
            <span className="grow">{name}</span>
            {id === tenant.id && <CheckIcon />}
          </a>
        ))
      }
    </Menu>
  )
}

const PersonMenu = ({ onHelp }: { onHelp: () => void }) => {
  const me = useMe()
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Menu
        opens="up"
        buttonClass="switcher plain"
        button={
          <>
            <span>
              {me.name}
              <small>{me.email}</small>
            </span>
            <span className="visually-hidden">settings and sign out</span>
            <ChevronIcon />
          </>
        }
      >
        {(close) => (
          <>
            <div className="menu-item plain">
              <span className="grow">Theme</span>
              <ThemeSwitch />
            </div>
            <button
              type="button"
              className="menu-item"
              onClick={() => {
                close()
                onHelp()
              }}
            >
              <span className="grow">Keys</span>
              <kbd>?</kbd>
            </button>
            <hr />
            <SignOutItems
              onEverywhere={() => {
                close()
                setAsked(true)
              }}
            />
          </>
        )}
      </Menu>
      {isAsked && <SignOutEverywhere onEnd={() => setAsked(false)} />}
    </>
  )
}

/** What went wrong is told by what was pressed, and forgotten when that is closed. */
const useSignOut = (everywhere: boolean) => {
  const signedIn = useSignedIn()
  const [failure, setFailure] = useState<unknown>()
  const leave = () => {
    setFailure(undefined)
    signOut(signedIn, everywhere).catch(setFailure)
  }
  return { failure, leave }
}

const SignOutItems = ({ onEverywhere }: { onEverywhere: () => void }) => {
  const { failure, leave } = useSignOut(false)
  return (
    <>
      <button type="button" className="menu-item" onClick={leave}>
        Sign out
      </button>
      <button type="button" className="menu-item" onClick={onEverywhere}>
        Sign out everywhere …
      </button>
      {failure !== undefined && <Trouble error={failure} />}
    </>
  )
}

const SignOutEverywhere = ({ onEnd }: { onEnd: () => void }) => {
  const { failure, leave } = useSignOut(true)
  return (
    <Question title="Sign out everywhere?" yes="Sign out everywhere" no="Cancel" onNo={onEnd} onYes={leave}>
      <p>You are signed out in every browser. Your access tokens and allowed applications keep working.</p>
      <p>
        Does somebody else know your password?{' '}
        <Link to="/settings/password" onClick={onEnd}>
          Change it
        </Link>
        : that revokes these too.
      </p>
      {isSessionOver(failure) && (
        <p role="alert">You are not signed out in other browsers. Sign in again, and then sign out everywhere.</p>
      )}
      {failure !== undefined && <Trouble error={failure} />}
    </Question>
  )
}
