import '../admin/administration.css'
import type { LegacySystem } from '@masthead/client/management'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Ago } from '../design/ago.tsx'
import { Badge } from '../design/badge.tsx'
import { Fetched } from '../design/fetched.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty, Trouble } from '../design/states.tsx'
import { useSubmission } from '../forms/submission.ts'
import { Permitted } from '../permission.tsx'
import { formatNumber } from '../records/formats.ts'
import { useManagement } from '../session.tsx'

const queryKey = ['legacy-system']
const title = 'Legacy system'

export const Page = () => (
  <Permitted title={title} scope="legacy:manage">
    <div className="page">
      <Legacy />
    </div>
  </Permitted>
)

const lookMilliseconds = 2_000

const Legacy = () => {
  const management = useManagement()
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => management.legacySystem.get({ signal }),
    // What waits is on its way.
    refetchInterval: ({ state }) => (state.data && state.data.waiting > 0 ? lookMilliseconds : false),
  })
  const { data } = query
  return (
    <>
      <PageHead
        title={title}
        marks={data?.isAttached && <State system={data} />}
        actions={data?.isAttached && data.waiting + data.failed > 0 && <RetryButton />}
      >
        Where new accounts, tasks and every change of a contact are handed to.
      </PageHead>
      <Fetched query={query} what="the legacy system">
        {(system) => (system.isAttached ? <Details system={system} /> : <NotAttached />)}
      </Fetched>
    </>
  )
}

const State = ({ system: { waiting, failed } }: { system: LegacySystem }) => {
  if (failed > 0) return <Badge tone="problem">Needs you</Badge>
  return waiting > 0 ? <Badge tone="caution">In progress</Badge> : <Badge tone="good">Everything is delivered</Badge>
}

const NotAttached = () => (
  <div className="card">
    <Empty title="There is no legacy system">
      <p>
        Masthead is your system of record. Where an older system has to hear of new accounts, tasks and changed
        contacts, the operator of the service attaches it by <code>masthead legacy attach</code>.
      </p>
    </Empty>
  </div>
)

const Details = ({ system }: { system: LegacySystem }) => (
  <section className="card" aria-label="Details">
    <dl className="properties">
      <div>
        <dt>Address</dt>
        <dd>{system.url}</dd>
      </div>
      <div>
        <dt>Attached</dt>
        <dd>{system.attachedAt && <Ago at={system.attachedAt} />}</dd>
      </div>
      <div>
        <dt>Waiting</dt>
        <dd>
          {formatNumber(system.waiting)}
          {system.oldestWaiting && (
            <>
              , the oldest written <Ago at={system.oldestWaiting} />
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Failed, after three days of trying</dt>
        <dd>{formatNumber(system.failed)}</dd>
      </div>
      {system.lastError !== null && (
        <div className="wide">
          <dt>What the last failed attempt met</dt>
          <dd>
            {system.lastError}
            {system.lastErrorAt && (
              <span className="muted">
                {' '}
                (<Ago at={system.lastErrorAt} />)
              </span>
            )}
          </dd>
        </div>
      )}
    </dl>
  </section>
)

const RetryButton = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, send } = useSubmission()
  const [told, setTold] = useState('')
  const retry = async () => {
    const done = await send({}, (_, options) => management.legacySystem.retry(options))
    if (done) setTold(`${formatNumber(done.retried + done.hastened)} are tried now.`)
    await queryClient.invalidateQueries({ queryKey })
  }
  return (
    <>
      <output className="muted">{told}</output>
      {error !== undefined && <Trouble error={error} />}
      <button type="button" className="button primary" onClick={retry} aria-disabled={isBusy}>
        Try now
      </button>
    </>
  )
}
