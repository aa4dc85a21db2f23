import { listedNames } from '@masthead/contract'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from './address.tsx'
import { CheckIcon } from './design/icons.tsx'
import type { Path } from './paths.ts'
import { pageQuery } from './records/queries.ts'
import { useManagement, useMasthead, useMe } from './session.tsx'
import { useStored } from './stored.ts'

/**
 * What an admin of an empty tenant does first. The steps stay until all are done or they are hidden, which this
 * browser remembers.
 */
export const FirstSteps = () => {
  const { tenant, admins } = useMe()
  const [known, remember] = useStored('first-steps', readKnown)
  const isEmpty = useIsEmpty()
  useEffect(() => {
    if (isEmpty && known === null) remember('shown')
  })
  if (isEmpty === undefined || known === 'hidden' || (!isEmpty && known === null)) return null
  if (tenant.role === 'admin') return <AdminSteps isImported={!isEmpty} onHide={() => remember('hidden')} />
  if (!isEmpty) return null
  return (
    <div className="card padded section">
      <h2>Nothing is here yet</h2>
      <p>
        An admin can import your records
        {admins.length > 0 && `: ask ${admins.map(({ name }) => name).join(', ')}`}.
      </p>
    </div>
  )
}

const readKnown = (kept: unknown): 'shown' | 'hidden' | null => (kept === 'shown' || kept === 'hidden' ? kept : null)

/** Undefined until all lists are known. */
const useIsEmpty = (): boolean | undefined => {
  const masthead = useMasthead()
  const totals = useQueries({
    queries: listedNames.map((name) => pageQuery(masthead, name, { pageSize: 1 })),
    combine: (results) => results.map(({ data }) => data?.items.length),
  })
  if (totals.some((count) => count !== undefined && count > 0)) return false
  return totals.every((count) => count === 0) ? true : undefined
}

type Step = { to: Path; title: string; about: string; isDone: boolean | undefined }

const AdminSteps = ({ isImported, onHide }: { isImported: boolean; onHide: () => void }) => {
  const { members, invitations, tokens, serviceTokens } = useManagement()
  const counts = [
    useQuery({ queryKey: ['members'], queryFn: ({ signal }) => members.list({ signal }) }),
    useQuery({ queryKey: ['invitations'], queryFn: ({ signal }) => invitations.list({ signal }) }),
    useQuery({ queryKey: ['tokens'], queryFn: ({ signal }) => tokens.list({ signal }) }),
    useQuery({ queryKey: ['service-tokens'], queryFn: ({ signal }) => serviceTokens.list({ signal }) }),
  ].map(({ data }) => data?.items.length)
  if (counts.some((count) => count === undefined)) return null
  const [people = 0, invited = 0, own = 0, ofServices = 0] = counts
  const steps: Step[] = [
    {
      to: '/admin/imports/new',
      title: 'Import your records',
      about: 'From files of a spreadsheet or of the system that you have. An import can be taken back.',
      isDone: isImported,
    },
    {
      to: '/admin/members',
      title: 'Invite a colleague',
      about: 'They choose a password and are in; you say what they may do.',
      isDone: people > 1 || invited > 0,
    },
    {
      to: '/settings/tokens',
      title: 'Make a token',
      about: 'With it a script or another system calls the API.',
      isDone: own + ofServices > 0,
    },
  ]
  if (steps.every(({ isDone }) => isDone)) return null
  return (
    <section className="card padded section first-steps" aria-label="First steps">
      <div className="section-head">
        <h2>First steps</h2>
        <button type="button" className="button quiet" onClick={onHide}>
          Hide
        </button>
      </div>
      <ol>
        {steps.map(({ to, title, about, isDone }, index) => (
          <li key={to} data-done={isDone}>
            <span className="step-mark" aria-hidden="true">
              {isDone ? <CheckIcon /> : index + 1}
            </span>
            <span>
              <Link to={to}>{title}</Link>
              {isDone && <span className="visually-hidden"> (done)</span>}
              <br />
              <span className="muted">{about}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
