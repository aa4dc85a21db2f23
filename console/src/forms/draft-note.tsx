import type { ReactNode } from 'react'
import type { Draft } from './draft.ts'

/** Says that a form holds what was typed before, and takes it back. */
export const DraftNote = ({ draft, children }: { draft: Draft; children?: ReactNode }) =>
  draft.isRestored && (
    <div className="notice caution draft-note" role="status">
      <p>What you typed before is restored: it is not saved yet.{children}</p>
      <button type="button" className="button" onClick={draft.discard}>
        Discard it
      </button>
    </div>
  )
