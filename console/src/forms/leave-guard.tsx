import { useBlocker } from '@tanstack/react-router'
import { Question } from '../design/question.tsx'
import { isLeavingSession } from '../session.tsx'
import type { Form } from './use-form.ts'

/** Asks who is about to leave what they typed. */
export const LeaveGuard = ({ form: { isChanged, draft } }: { form: Pick<Form, 'isChanged' | 'draft'> }) => {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    // Who signs in again comes back to the draft, and who signs out has left it.
    enableBeforeUnload: () => isChanged && !isLeavingSession(),
    withResolver: true,
  })
  if (leaving.status !== 'blocked') return null
  const leave = () => {
    draft.forget()
    leaving.proceed()
  }
  return (
    <Question title="Leave without saving?" yes="Leave" no="Stay" onYes={leave} onNo={leaving.reset}>
      <p>What you changed here will be lost.</p>
    </Question>
  )
}
