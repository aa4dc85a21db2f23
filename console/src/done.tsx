import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { CheckIcon } from './design/icons.tsx'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What was just done, for the page that one comes to by it. */
    done?: string
  }
}

/** Says what was just done, until another page is opened. It is there before it has something to say, or nobody would hear it. */
export const Done = () => {
  const done = useRouterState({ select: ({ location }) => location.state.done })
  const key = useRouterState({ select: ({ location }) => location.state.__TSR_key ?? '' })
  // Whoever comes back to the page later is not told again.
  const told = useRef(new Set<string>())
  useEffect(() => () => void told.current.add(key), [key])
  return (
    <output className="done">
      {done && !told.current.has(key) && (
        <span className="done-text fades-in">
          <CheckIcon />
          {done}
        </span>
      )}
    </output>
  )
}
