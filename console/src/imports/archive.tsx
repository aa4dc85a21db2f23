import { Badge } from '../design/badge.tsx'
import { formatNumber } from '../design/formats.ts'
import { TableHead } from '../design/table-head.tsx'
import { capitalised } from '../records/kinds.ts'
import type { Decisions } from './decisions.ts'
import type { Inspection } from './runs.ts'

type Member = Inspection['members'][number]

/** The files of an archive, which are imported together, and what is to be decided about each. */
export const Archive = ({ inspection, decisions }: { inspection: Inspection; decisions: Decisions }) => (
  <section className="card" aria-labelledby="import-archive">
    <div className="table-head">
      <h2 id="import-archive">Files of the archive</h2>
    </div>
    <table className="records plain">
      <caption className="visually-hidden">Files of the archive</caption>
      <TableHead columns={['File', 'Holds', { amount: 'Rows' }, 'State']} hasActions />
      <tbody>
        {inspection.members.map((member) => {
          const { name, resource, isLeftOut, rows } = member
          const isShown = decisions.member === name
          return (
            <tr key={name} aria-current={isShown ? 'true' : undefined}>
              <td>
                <strong className="row-title">{name}</strong>
              </td>
              <td data-label="Holds" className={resource === null ? 'blank' : undefined}>
                {resource !== null && capitalised(resource)}
              </td>
              <td data-label="Rows" className={isLeftOut ? 'end blank' : 'end'}>
                {!isLeftOut && formatNumber(rows)}
              </td>
              <td data-label="State">
                <State member={member} />
              </td>
              <td className="row-actions">
                <button type="button" className="button" disabled={isShown} onClick={() => decisions.show(name)}>
                  {isShown ? 'Shown below' : 'Show'}
                  <span className="visually-hidden"> {name}</span>
                </button>
                <button type="button" className="button" onClick={() => decisions.leaveOut(name, !isLeftOut)}>
                  {isLeftOut ? 'Take it' : 'Leave it out'}
                  <span className="visually-hidden"> {name}</span>
                </button>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </section>
)

const State = ({ member: { isLeftOut, problems } }: { member: Member }) => {
  if (isLeftOut) return <Badge tone="calm">left out</Badge>
  return problems === 0 ? (
    <Badge tone="good">ready</Badge>
  ) : (
    <Badge tone="caution">{problems === 1 ? '1 thing to decide' : `${formatNumber(problems)} things to decide`}</Badge>
  )
}

/** Why the other files of the archive cannot be imported yet. */
export const problemsOfOthers = ({ members }: Inspection, shown: string): string[] => {
  const taken = members.filter(({ isLeftOut }) => !isLeftOut)
  if (members.length > 0 && taken.length === 0) return ['All files are left out: take one.']
  return taken
    .filter(({ name, problems }) => name !== shown && problems > 0)
    .map(({ name }) => `There is something to decide about ${name}: show it, or leave it out.`)
}
