import { useEffect, useState } from 'react'

const pauseMilliseconds = 150

/** What was typed, when the typing pauses. */
export const usePaused = (text: string): string => {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}
