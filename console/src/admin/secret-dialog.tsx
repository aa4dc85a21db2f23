import '../design/form.css'
import type { Scope } from '@masthead/contract'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Copied } from '../design/copied.tsx'
import { Dialog } from '../design/dialog.tsx'
import { CautionIcon } from '../design/icons.tsx'
import { Question } from '../design/question.tsx'
import { curlFor } from './curl.ts'

type SecretDialogProps = { title: string; isWide?: boolean; onClose: () => void; warning: string; children: ReactNode }

/** The secret is stored nowhere, so the dialog closes by one button only, and leaving the page asks first. */
export const SecretDialog = ({ warning, children, ...dialog }: SecretDialogProps) => (
  <Dialog {...dialog} isHeld>
    <LeavingSecret />
    <div className="secret">
      <p className="warning" role="note">
        <CautionIcon />
        {warning}
      </p>
      {children}
      <div className="dialog-actions">
        <button type="button" className="button primary" onClick={dialog.onClose}>
          I have copied it
        </button>
      </div>
    </div>
  </Dialog>
)

const LeavingSecret = () => {
  const leaving = useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true, withResolver: true })
  if (leaving.status !== 'blocked') return null
  return (
    <Question title="Leave without it?" yes="Leave" no="Stay" onYes={leaving.proceed} onNo={leaving.reset}>
      <p>It is not shown again. Copy it before you leave.</p>
    </Question>
  )
}

export type Shown = { token: string; name: string; scopes: readonly Scope[] }

export const TokenDialog = ({ shown: { token, name, scopes }, onClose }: { shown: Shown; onClose: () => void }) => (
  <SecretDialog
    title={`Token “${name}”`}
    onClose={onClose}
    warning="Copy it now: it is not shown again. Whoever has it can do what it allows."
  >
    <Copied label="Token" text={token} />
    <Copied label="Try it" text={curlFor(token, scopes)} />
  </SecretDialog>
)
