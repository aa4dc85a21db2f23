import { type ReactNode, useState } from 'react'
import type { Parameters } from '../address.tsx'
import { TextField } from '../design/text-field.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useMe } from '../session.tsx'
import { useStored } from '../stored.ts'

/**
 * Tasks name users of the legacy system, who are not those of the console. An operator can say who a member is there; until then members
 * say it themselves, and are taken to have the name of their e-mail address.
 */
export const MyTasks = ({ children }: { children: (parameters: Parameters, more: ReactNode) => ReactNode }) => {
  const { email, legacyUserId } = useMe()
  const [kept, keep] = useStored('legacy-user', (value) => (typeof value === 'string' ? value : ''))
  const [isAsking, setAsking] = useState(false)
  const userId = legacyUserId ?? (kept || email)
  const isAssumed = userId === email
  const more = (
    <>
      <p className="small muted work-more">
        {!isAssumed && (
          <>
            Of <strong>{userId}</strong>{' '}
          </>
        )}
        {legacyUserId === null && (
          <button type="button" className="link-button" title={`Of ${userId}`} onClick={() => setAsking(true)}>
            Not yours?
          </button>
        )}
      </p>
      {isAsking && <Asked before={userId} onKeep={keep} onClose={() => setAsking(false)} />}
    </>
  )
  return children({ userId, open: 'true', sort: 'dueDate' }, more)
}

type AskedProps = { before: string; onKeep: (userId: string) => void; onClose: () => void }

const Asked = ({ before, onKeep, onClose }: AskedProps) => {
  const [userId, setUserId] = useState(before)
  return (
    <FormDialog
      title="Who are you in the legacy system?"
      action="Keep"
      isBusy={false}
      onClose={onClose}
      onSubmit={() => {
        onKeep(userId.trim())
        onClose()
      }}
    >
      <TextField
        label="User"
        help="As tasks name you. Kept in this browser, for you and this organisation only; empty for your e-mail address."
        value={userId}
        onChange={setUserId}
      />
    </FormDialog>
  )
}
