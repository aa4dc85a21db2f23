import { isListed, type ListedName } from '@masthead/contract'
import { useEffect } from 'react'
import { useStored } from '../stored.ts'

/** A record whose page was opened. Only its identifier is kept: names change, and are erased. */
type Visit = { name: ListedName; id: string }

const most = 8

/** The records that somebody looked at last, the latest first. */
export const useVisits = (): readonly Visit[] => useStored('visits', readVisits)[0]

/** Notes that a record is looked at. */
export const useVisit = (name: ListedName, id: string | undefined): void => {
  const [visits, setVisits] = useStored('visits', readVisits)
  // biome-ignore lint/correctness/useExhaustiveDependencies: one visit is noted once
  useEffect(() => {
    if (id === undefined) return
    setVisits([{ name, id }, ...visits.filter((visit) => visit.id !== id)].slice(0, most))
  }, [name, id])
}

const readVisits = (kept: unknown): readonly Visit[] => (Array.isArray(kept) ? kept.filter(isVisit) : [])

const isVisit = (kept: unknown): kept is Visit =>
  typeof kept === 'object' &&
  kept !== null &&
  'name' in kept &&
  typeof kept.name === 'string' &&
  isListed(kept.name) &&
  'id' in kept &&
  typeof kept.id === 'string'
