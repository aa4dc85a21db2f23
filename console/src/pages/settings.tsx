import '../design/form.css'
import type { TenantSettings } from '@masthead/client/management'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Fetched } from '../design/fetched.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Select } from '../design/select.tsx'
import { Trouble } from '../design/states.tsx'
import { useDraft } from '../forms/draft.ts'
import { DraftNote } from '../forms/draft-note.tsx'
import { useSubmission } from '../forms/submission.ts'
import { Permitted } from '../permission.tsx'
import { useManagement } from '../session.tsx'

const title = 'Settings'

export const Page = () => (
  <Permitted title={title} scope="tenant:manage">
    <Settings />
  </Permitted>
)

const Settings = () => {
  const management = useManagement()
  const query = useQuery({
    // As it is when the form is opened, and so it stays while somebody chooses. What lists know of it may be older.
    queryKey: ['tenant', 'edited'],
    queryFn: ({ signal }) => management.tenant.get({ signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <div className="page">
      <PageHead title={title}>What holds for all members.</PageHead>
      <Fetched query={query} what="the settings">
        {(settings) => <SettingsForm {...settings} />}
      </Fetched>
    </div>
  )
}

const SettingsForm = ({ name, slug, timeZone }: TenantSettings) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, trouble, errorAt, send } = useSubmission({ isRepeatable: true })
  const { value, set, draft } = useDraft('settings', { timeZone })
  const [isSaved, setSaved] = useState(false)
  const choose = (timeZone: string) => {
    set({ timeZone })
    setSaved(false)
  }
  const submit = async () => {
    const saved = await send(value, (input) => management.tenant.update(input))
    if (!saved) return
    draft.forget()
    set({ timeZone: saved.timeZone })
    setSaved(true)
    // What is overdue depends on it.
    queryClient.invalidateQueries()
  }
  return (
    <form
      className="form"
      noValidate
      aria-busy={isBusy}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <DraftNote draft={draft} />
      {trouble !== undefined && <Trouble error={trouble} />}
      <section className="card form-section">
        <h2>{name}</h2>
        <p className="muted">
          In addresses and commands it is <code>{slug}</code>.
        </p>
        <Select
          label="Time zone"
          help="An invoice is overdue from the day after its due date, and this says when that day begins."
          value={value.timeZone}
          onChange={choose}
          options={zonesWith(timeZone, browserZone).map((zone) => [zone, labelOf(zone)])}
          error={errorAt('timeZone')}
        />
        <p className="muted">
          There it is now <strong>{timeIn(value.timeZone)}</strong>.{' '}
          {value.timeZone !== browserZone && (
            <button type="button" className="button" onClick={() => choose(browserZone)}>
              Take that of this browser: {labelOf(browserZone)}
            </button>
          )}
        </p>
      </section>
      <div className="form-actions">
        <button type="submit" className="button primary" aria-disabled={isBusy}>
          Save
        </button>
        <output className="muted">{isSaved ? 'Saved.' : ''}</output>
      </div>
    </form>
  )
}

const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Browsers list other names than the service for some zones, and none for UTC. */
const zonesWith = (...others: readonly string[]): string[] =>
  [...new Set(['UTC', ...others, ...Intl.supportedValuesOf('timeZone')])].sort()

const labelOf = (zone: string): string => zone.replaceAll('_', ' ')

const timeIn = (timeZone: string): string =>
  new Intl.DateTimeFormat(undefined, { weekday: 'long', hour: 'numeric', minute: '2-digit', timeZone }).format()
