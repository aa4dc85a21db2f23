import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Ago } from '../design/ago.tsx'
import { formatNumber } from '../design/formats.ts'
import { Trouble } from '../design/states.tsx'
import { useSubmission } from '../forms/submission.ts'
import { useManagement } from '../session.tsx'
import { legacySystemQuery, queryKey } from './queries.ts'

/** What only a legacy system tells of itself, as further properties of the endpoint. */
export const LegacyProperties = () => {
  const management = useManagement()
  const { data } = useQuery(legacySystemQuery(management))
  if (!data) return null
  const { oldestWaiting, lastError, lastErrorAt } = data
  return (
    <>
      {oldestWaiting !== null && (
        <div>
          <dt>The oldest that waits</dt>
          <dd>
            <Ago at={oldestWaiting} />
          </dd>
        </div>
      )}
      {lastError !== null && (
        <div className="wide">
          <dt>What the last failed attempt met</dt>
          <dd>
            {lastError}
            {lastErrorAt && (
              <span className="muted">
                {' '}
                (<Ago at={lastErrorAt} />)
              </span>
            )}
          </dd>
        </div>
      )}
    </>
  )
}

export const RetryButton = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, send } = useSubmission({ isRepeatable: true })
  const [told, setTold] = useState('')
  const retry = async () => {
    const done = await send({}, (_, options) => management.legacySystem.retry(options))
    const count = done && done.retried + done.hastened
    if (count !== undefined) setTold(`${formatNumber(count)} ${count === 1 ? 'is' : 'are'} tried now.`)
    await queryClient.invalidateQueries({ queryKey })
  }
  return (
    <>
      <output className="told muted">{told}</output>
      {error !== undefined && <Trouble error={error} />}
      <button type="button" className="button primary" onClick={retry} aria-disabled={isBusy}>
        Try now
      </button>
    </>
  )
}

/** Where a tenant has none, its admins learn what it would be for, and who attaches it. */
export const NoLegacySystem = () => (
  <p className="muted small">
    Where an older system has to hear of every change of an account, a contact or a task, the operator of the service
    attaches it by <code>masthead legacy attach</code>. It then stands here, too.
  </p>
)
