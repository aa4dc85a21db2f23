import {
  Link as RouterLink,
  type LinkProps as RouterLinkProps,
  useNavigate,
  useParams,
  useSearch,
} from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react'
import type { Path } from './paths.ts'

/** What stands in the address behind the question mark: texts, as they stand there. */
export type Parameters = Readonly<Record<string, string | undefined>>

export const useParameters = (): Parameters => useSearch({ strict: false })

export const usePathId = (): string => {
  const { id = '' }: { id?: string } = useParams({ strict: false })
  return id
}

/** Changes parameters of the address and keeps the others; undefined and empty ones are left out of it. */
export const useSetParameters = (): ((changes: Parameters, options?: { replace?: boolean }) => void) => {
  const navigate = useNavigate()
  return (changes, { replace = false } = {}) => {
    const search = (before: Parameters) => ({ ...before, ...changes })
    // What replaces the address is typed or chosen in place.
    navigate({ to: '.', search, replace, resetScroll: !replace })
  }
}

type LinkProps = Pick<
  AnchorHTMLAttributes<HTMLAnchorElement>,
  'className' | 'title' | 'aria-label' | 'aria-current' | 'onClick'
> & {
  to: Path
  id?: string
  parameters?: Parameters
  children: ReactNode
  ref?: Ref<HTMLAnchorElement>
}

/** A link to a page of the console. */
export const Link = ({ to, id, parameters = {}, ...rest }: LinkProps) => {
  const target: RouterLinkProps = {
    to,
    params: { id },
    search: parameters,
    // It leads to where one is only if all of it does; otherwise the first page would be the current one on every page.
    activeOptions: { exact: true, explicitUndefined: true },
  }
  return <RouterLink {...target} {...rest} />
}

export const parseAddress = (text: string): Parameters => Object.fromEntries(new URLSearchParams(text))

export const writeAddress = (parameters: Record<string, unknown>): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}
