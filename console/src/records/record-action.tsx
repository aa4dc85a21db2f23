import { isProblem } from '@masthead/client'
import type { ListedName } from '@masthead/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Trouble } from '../design/states.tsx'
import { useMasthead } from '../session.tsx'
import type { AnyRecord } from './kinds.ts'
import { recordQuery } from './queries.ts'

export const ActionTrouble = ({ error, singular }: { error: unknown; singular: string }) => {
  if (error === undefined) return null
  if (!isProblem(error, 'precondition_failed')) return <Trouble error={error} />
  return (
    <p className="field-error" role="alert">
      Somebody else has changed this {singular}, and nothing was done. The page now shows it as it is: look again, and
      decide anew.
    </p>
  )
}

/** Does it once, to the record as it is shown; if that is no longer how it is, the page shows it as it is now. */
export const useAction = <R extends { id: string }>(name: ListedName, record: R, done: string, onDone?: () => void) => {
  const masthead = useMasthead()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  // Faster than a state: a second click comes before the button is drawn anew.
  const isUnderWay = useRef(false)
  const [trouble, setTrouble] = useState<unknown>()
  const { queryKey } = recordQuery(masthead, name, record.id)
  const act = async (change: (ifMatch: R) => Promise<R>) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setBusy(true)
    setTrouble(undefined)
    const { pathname } = location
    try {
      // As it came, because its tag belongs to it. The cast forgets which resource it is, as the query of the record does.
      queryClient.setQueryData(queryKey, (await change(record)) as unknown as AnyRecord)
      onDone?.()
      // Who has gone to another page meanwhile stays there as they are.
      if (location.pathname !== pathname) return
      navigate({ to: '.', state: { done }, replace: true })
      // The button that was pressed is gone. Who types elsewhere meanwhile goes on.
      if (!document.activeElement?.matches('input, textarea, select')) document.getElementById('main')?.focus()
    } catch (error) {
      setTrouble(error)
    } finally {
      isUnderWay.current = false
      setBusy(false)
      queryClient.invalidateQueries({ queryKey: [name] })
    }
  }
  return { act, isBusy, trouble }
}
