import '../design/form.css'
import type { Scope } from '@masthead/contract'
import type { ReactNode } from 'react'
import { Copied } from '../design/copied.tsx'
import { Dialog } from '../design/dialog.tsx'
import { CautionIcon } from '../design/icons.tsx'
import { curlFor } from './curl.ts'

type SecretDialogProps = { title: string; isWide?: boolean; onClose: () => void; warning: string; children: ReactNode }

/** What is kept nowhere: once it is closed, it is gone. */
export const SecretDialog = ({ warning, children, ...dialog }: SecretDialogProps) => (
  <Dialog {...dialog}>
    <div className="secret">
      <p className="warning" role="note">
        <CautionIcon />
        {warning}
      </p>
      {children}
      <div className="dialog-actions">
        <button type="button" className="button primary" onClick={dialog.onClose}>
          I have it
        </button>
      </div>
    </div>
  </Dialog>
)

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
