import { type RefObject, useEffect } from 'react'

const setting = 'masthead.left-rows'
/** Nobody goes back further. */
const most = 50

type Left = readonly (readonly [entry: string, id: string])[]

// The console alone writes it, in this form.
const readLeft = (): Left => JSON.parse(sessionStorage.getItem(setting) ?? '[]') as Left

/** The page that one came in by has no entry of the router's. */
const hereInHistory = (): string => history.state?.__TSR_key ?? location.href

/** Notes by which row a table was left, with the entry of the history, and brings who comes back to it to that row. */
export const useLeftRow = (
  isMain: boolean,
  body: RefObject<HTMLTableSectionElement | null>,
): ((id: string) => void) => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another table is drawn by another component
  useEffect(() => {
    const [, id] = (isMain && readLeft().findLast(([left]) => left === hereInHistory())) || []
    if (id === undefined) return
    // The frame has yet to give the focus to the page as a whole.
    const frame = requestAnimationFrame(() => {
      const row = body.current?.querySelector(`tr[data-id="${CSS.escape(id)}"] .title-link`)
      if (row instanceof HTMLElement) row.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return (id) => {
    if (!isMain) return
    const here = hereInHistory()
    const left = [...readLeft().filter(([entry]) => entry !== here), [here, id] as const].slice(-most)
    sessionStorage.setItem(setting, JSON.stringify(left))
  }
}
