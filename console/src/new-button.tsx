import type { Scope } from '@masthead/contract'
import { Link, type Parameters } from './address.tsx'
import { PlusIcon } from './design/icons.tsx'
import type { Path } from './paths.ts'
import { useMay } from './permission.tsx'

type NewButtonProps = { what: keyof typeof kinds; parameters?: Parameters; isMain?: boolean }

const kinds = {
  account: { to: '/accounts/new', scope: 'accounts:write' },
  contact: { to: '/contacts/new', scope: 'contacts:write' },
  task: { to: '/tasks/new', scope: 'tasks:write' },
} as const satisfies Record<string, { to: Path; scope: Scope }>

/** The way to the form for something new, for who may. */
export const NewButton = ({ what, parameters = {}, isMain = false }: NewButtonProps) => {
  const { to, scope } = kinds[what]
  if (!useMay(scope)) return null
  return (
    <Link to={to} parameters={parameters} className={isMain ? 'button primary' : 'button'}>
      <PlusIcon />
      {`New ${what}`}
    </Link>
  )
}
