import type { ImportRun } from '@masthead/client/management'
import { type ResourceName, resourceNames } from '@masthead/contract'
import { useEffect, useRef, useState } from 'react'
import { useManagement } from '../session.tsx'
import { type FileOptions, isArchive, type Options, useShowRun } from './runs.ts'

/** What somebody may decide about a file, or about the one of an archive that is shown. Each decision has it looked at again. */
export type Decisions = {
  options: FileOptions
  /** Undefined while nobody knows. */
  resource: ResourceName | undefined
  /** The file of an archive that is shown, or is about to be; empty when it is no archive. */
  member: string
  isLooking: boolean
  error: unknown
  decide: (change: OptionChange) => void
  decideResource: (resource: ResourceName) => void
  /** Leaves all to what is noticed. */
  forget: () => void
  show: (member: string) => void
  leaveOut: (member: string, isLeftOut: boolean) => void
}

type Decided = { options: Options; resource: ResourceName | undefined }
type Member = NonNullable<Options['members']>[number]

const resourceOf = ({ inspection, resource }: ImportRun): ResourceName | undefined =>
  resourceNames.find((name) => name === (inspection?.resource ?? resource))

/** Undefined leaves it to what is noticed. */
export type OptionChange = { [K in keyof FileOptions]?: FileOptions[K] | undefined }

const changed = (options: FileOptions, change: OptionChange): FileOptions =>
  Object.fromEntries(Object.entries({ ...options, ...change }).filter(([, value]) => value !== undefined))

/** Which fields columns hold, and what values stand for, is chosen for one kind of records. */
const choices: OptionChange = { columns: undefined, splits: undefined, joins: undefined, translations: undefined }

/** Who chooses another file or sheet begins anew. */
export const withoutChoices = (change: OptionChange): OptionChange => ({ ...choices, ...change })

const lookMilliseconds = 100

/**
 * Decisions are shown at once and sent one after the other, because a run refuses them while it looks at the file. What is
 * decided meanwhile goes together.
 */
export const useDecisions = (run: ImportRun): Decisions => {
  const management = useManagement()
  const show = useShowRun()
  const [draft, setDraft] = useState<Decided>()
  const [error, setError] = useState<unknown>()
  const waiting = useRef<Partial<Decided>>(undefined)
  const isSending = useRef(false)
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    return () => controller.abort()
  }, [])
  const look = async ({ options, resource }: Partial<Decided>, signal: AbortSignal) => {
    await management.importRuns.update(
      run.id,
      { ...(options && { options }), ...(resource && { resource }) },
      { signal },
    )
    let looked = await management.importRuns.inspect(run.id, { signal })
    while (looked.state === 'running' && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, lookMilliseconds))
      looked = await management.importRuns.get(run.id, { signal })
    }
    if (waiting.current === undefined) await show(looked)
  }
  const send = async (change: Partial<Decided>) => {
    waiting.current = { ...waiting.current, ...change }
    if (isSending.current) return
    const { signal } = leaving.current
    isSending.current = true
    setError(undefined)
    try {
      for (let next: Partial<Decided> | undefined = waiting.current; next; next = waiting.current) {
        waiting.current = undefined
        await look(next, signal)
      }
    } catch (reason) {
      waiting.current = undefined
      if (!signal.aborted) setError(reason)
    } finally {
      isSending.current = false
      if (!signal.aborted) setDraft(undefined)
    }
  }
  const current: Decided = draft ?? { options: run.options, resource: resourceOf(run) }
  const setAndSend = (next: Partial<Decided>) => {
    setDraft({ ...current, ...next })
    void send(next)
  }
  const { inspection } = run
  const member = isArchive(inspection) ? (current.options.member ?? inspection?.member ?? '') : ''
  const decided = current.options.members?.find(({ name }) => name === member)
  const changeMember = (name: string, change: (member: Member) => Member) => {
    const members = current.options.members ?? []
    const before = members.find((one) => one.name === name) ?? { name }
    const others = members.filter((one) => one.name !== name)
    setAndSend({ options: { ...current.options, members: [...others, change(before)] } })
  }
  const { member: _member, members: _members, ...ofAll } = current.options
  const file = member === '' ? ofAll : { ...ofAll, ...decided?.options }
  const noticed = member === (inspection?.member ?? '') ? resourceOf(run) : undefined
  return {
    options: file,
    resource: member === '' ? current.resource : (decided?.resource ?? noticed),
    member,
    isLooking: draft !== undefined,
    error,
    decide: (change) =>
      member === ''
        ? setAndSend({ options: changed(file, change) })
        : changeMember(member, (one) => ({ ...one, options: changed(one.options ?? {}, change) })),
    decideResource: (resource) =>
      member === ''
        ? setAndSend({ resource, options: changed(file, choices) })
        : changeMember(member, (one) => ({ ...one, resource, options: changed(one.options ?? {}, choices) })),
    forget: () =>
      member === '' ? setAndSend({ options: {} }) : changeMember(member, (one) => ({ ...one, options: {} })),
    show: (name) => setAndSend({ options: { ...current.options, member: name } }),
    leaveOut: (name, isLeftOut) => changeMember(name, (one) => ({ ...one, isLeftOut })),
  }
}
