import { useBlocker } from '@tanstack/react-router'
import { Question } from '../design/question.tsx'

/** Asks who is about to leave what they typed. */
export const LeaveGuard = ({ isChanged }: { isChanged: boolean }) => {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  })
  if (leaving.status !== 'blocked') return null
  return (
    <Question title="Leave without saving?" yes="Leave" no="Stay" onYes={leaving.proceed} onNo={leaving.reset}>
      <p>What you changed here will be lost.</p>
    </Question>
  )
}
