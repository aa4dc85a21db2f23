import { isListed, type ListedName } from '@masthead/contract'
import { type Field, fieldsOf, isBlank, isStatus } from '../records/fields.ts'
import { type AnyRecord, kinds } from '../records/kinds.ts'
import { Value } from '../records/value.tsx'
import { headingOf } from './heading.ts'
import { layoutOf } from './layouts.ts'
import { NamedReference } from './reference.tsx'

/** What the service makes of a record itself is told by its history, and by its raw data. */
const isMade = (field: Field): boolean =>
  field.default !== null || ['deletedAt', 'balanceCents'].includes(field.name) || field.isIdentifier

type FilledGroup = { heading: string; fields: readonly Field[] }

/** The groups of the layout; what none of them names, and the head of the page does not show, stands in one of its own. */
const groupsOf = (name: ListedName): FilledGroup[] => {
  const { groups, lead } = layoutOf(name)
  const fields = fieldsOf(name)
  const named = [...groups.flatMap(({ names }) => names), ...lead, ...kinds[name].titles]
  const others = fields.filter((field) => !named.includes(field.name) && !isMade(field) && !isStatus(field))
  return [
    ...groups.map(({ heading, names }) => ({
      heading,
      fields: names.flatMap((one) => fields.find((field) => field.name === one) ?? []),
    })),
    ...(others.length > 0 ? [{ heading: groups.length > 0 ? 'More' : 'Facts', fields: others }] : []),
  ]
}

/** Every fact that people look after, in groups; what holds nothing is named at the end. */
export const Facts = ({ name, record }: { name: ListedName; record: AnyRecord }) => {
  const groups = groupsOf(name).map(({ heading, fields }) => ({
    heading,
    // The title of the page tells it.
    fields: fields.filter((field) => record[field.name] !== headingOf(name, record)),
  }))
  const blank = groups.flatMap(({ fields }) => fields.filter((field) => isBlank(record[field.name])))
  return (
    <section className="facts" aria-label="Details">
      {groups.map(({ heading, fields }) => {
        const filled = fields.filter((field) => !isBlank(record[field.name]))
        if (filled.length === 0) return null
        return (
          <div key={heading} className="card padded section">
            <h2>{heading}</h2>
            <dl className="fact-list">
              {filled.map((field) => (
                <Fact key={field.name} field={field} value={record[field.name]} />
              ))}
            </dl>
          </div>
        )
      })}
      {blank.length > 0 && (
        <p className="muted small blank-facts">Not filled: {blank.map(({ label }) => label).join(', ')}</p>
      )}
    </section>
  )
}

const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > 60

const Fact = ({ field, value }: { field: Field; value: unknown }) => (
  <div className={isLong(value) ? 'wide' : undefined}>
    <dt title={field.description}>{field.label}</dt>
    {/* A long text stands on the side from which it is read, a short one beside its name. */}
    <dd dir={isLong(value) ? 'auto' : undefined}>
      {field.reference && isListed(field.reference) ? (
        <NamedReference to={field.reference} id={String(value)} />
      ) : (
        <bdi>
          <Value field={field} value={value} />
        </bdi>
      )}
    </dd>
  </div>
)
