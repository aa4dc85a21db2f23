import { Link, type Parameters } from '../address.tsx'
import { NextIcon, PreviousIcon } from '../design/icons.tsx'
import type { Path } from '../paths.ts'

/** The number in the address before which a page of such a list begins; undefined for the newest. */
export const beforeOf = ({ before = '' }: Parameters): number | undefined =>
  /^[1-9]\d{0,14}$/.test(before) ? Number(before) : undefined

type OlderPagesProps = {
  to: Path
  id?: string
  parameters: Parameters
  /** Before which number the next page begins; null on the last one. */
  next: number | null
}

/** The ways through a list that begins with the newest, and that grows while it is read. */
export const OlderPages = ({ parameters, next, ...page }: OlderPagesProps) => (
  <nav className="pages" aria-label="Pages">
    {beforeOf(parameters) === undefined ? (
      <span />
    ) : (
      <Link {...page} parameters={{ ...parameters, before: undefined }} className="button">
        <PreviousIcon />
        Newest
      </Link>
    )}
    {next !== null && (
      <Link {...page} parameters={{ ...parameters, before: String(next) }} className="button">
        Older
        <NextIcon />
      </Link>
    )}
  </nav>
)
