import { useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Link } from '../address.tsx'
import { PageHead } from '../design/page-head.tsx'
import { inOrder } from './contents.ts'

/** A page of the portal: its head, what it says, and what comes next. */
export const Document = ({ title, lead, children }: { title: string; lead: string; children: ReactNode }) => {
  const path = useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, '') })
  const next = inOrder[inOrder.findIndex(({ to }) => to === path) + 1]
  return (
    <article className="page document">
      <PageHead title={title}>{lead}</PageHead>
      {children}
      {next && (
        <p className="next-page">
          Next: <Link to={next.to}>{next.label}</Link>
        </p>
      )}
    </article>
  )
}

/** What the address of a section ends with. */
export const anchorOf = (title: string): string => title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="document-section" id={anchorOf(title)}>
    <h2>{title}</h2>
    {children}
  </section>
)
