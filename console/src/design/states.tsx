import { AuthorizationError, isProblem } from '@masthead/client'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { isUnanswered, noteFailure } from '../connection.ts'
import { isSessionOver, signIn } from '../session.tsx'
import { PageHead } from './page-head.tsx'

type Told = { title: string; detail: string; requestId?: string; isOver?: boolean }

const tell = (error: unknown, goesOn: boolean): Told => {
  if (isSessionOver(error))
    return { title: 'Your session has ended', detail: 'Sign in again to go on where you are.', isOver: true }
  if (isProblem(error)) return { title: error.title, detail: error.detail, requestId: error.requestId }
  if (error instanceof AuthorizationError) return { title: 'You could not be signed in', detail: error.message }
  if (isUnanswered(error))
    return {
      title: 'The service did not answer',
      detail: goesOn
        ? 'The page goes on by itself when the service answers again.'
        : 'Nothing that you typed is lost. Try again when the service answers.',
    }
  return { title: 'Something went wrong', detail: error instanceof Error ? error.message : String(error) }
}

/** What went wrong, and what can be done about it. */
export const Trouble = ({ error: given, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) => {
  const [failure, setFailure] = useState<unknown>()
  const error = failure ?? given
  useEffect(() => noteFailure(error), [error])
  const { title, detail, requestId, isOver } = tell(error, onRetry !== undefined)
  return (
    <div className="notice fades-in" role="alert">
      <h2>{title}</h2>
      <p>{detail}</p>
      {requestId !== undefined && (
        <p className="muted small">
          Request <code>{requestId}</code>
        </p>
      )}
      {isOver ? (
        <button type="button" className="button primary" onClick={() => signIn().catch(setFailure)}>
          Sign in
        </button>
      ) : (
        onRetry && (
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        )
      )}
    </div>
  )
}

export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty fades-in">
    <h2>{title}</h2>
    {children}
  </div>
)

/** Announced to who does not see it. */
export const Loading = ({ what }: { what: string }) => (
  <output className="empty">
    <span>Loading {what} …</span>
  </output>
)

export const NotFound = () => (
  <div className="page">
    <PageHead title="There is nothing here" />
    <p>The address may be mistyped, or what it named is gone.</p>
  </div>
)

/** Where the code of a page takes long to come; the frame says when nothing answers. */
export const PagePending = () => (
  <div className="page">
    <Loading what="the page" />
  </div>
)

/** Where a page itself fails, or cannot be loaded. */
export const PageTrouble = ({ error, reset }: ErrorComponentProps) => (
  <div className="page">
    <Trouble error={error} onRetry={reset} />
  </div>
)
