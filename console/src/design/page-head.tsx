import type { ReactNode } from 'react'

type PageHeadProps = {
  title: string
  /** Badges beside the title. */
  marks?: ReactNode
  /** Where the page belongs to, above its title. */
  crumbs?: ReactNode
  /** A line below the title. */
  children?: ReactNode
  actions?: ReactNode
}

/** The head of every page, which also names it in the window and in the history. */
export const PageHead = ({ title, marks, crumbs, children, actions }: PageHeadProps) => (
  <header className="page-head">
    <title>{`${title} · Masthead`}</title>
    <div className="titles">
      {crumbs && <p className="crumbs">{crumbs}</p>}
      <div className="heading">
        <h1>
          {/* Names are also written from right to left. */}
          <bdi>{title}</bdi>
        </h1>
        {marks}
      </div>
      {children && <div className="muted">{children}</div>}
    </div>
    {actions && <div className="actions">{actions}</div>}
  </header>
)
