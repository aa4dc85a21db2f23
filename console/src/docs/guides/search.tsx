import { longest, mostCounted, pagingParameters, type Resource, resources } from '@masthead/contract'
import { formatNumber } from '../../design/formats.ts'
import { Document, Section } from '../document.tsx'
import { Example } from '../example.tsx'
import { Prose } from '../prose.tsx'
import { TokenCard } from '../token-card.tsx'

const all: readonly Resource[] = Object.values(resources)
const searched = all.flatMap(({ name, listing }) =>
  listing && listing.search.length > 0 ? [{ name, fields: listing.search }] : [],
)
const shared = [...pagingParameters, 'search']
const filters = all.flatMap(({ name, operations }) =>
  Object.values(operations).flatMap(({ query }) =>
    Object.entries<{ description?: string }>(query?.properties ?? {})
      .filter(([parameter]) => !shared.includes(parameter))
      .map(([parameter, { description = '' }]) => ({ name, parameter, about: description })),
  ),
)

export const Page = () => (
  <Document title="Search and filters" lead="Find records by words, and narrow a list down.">
    <TokenCard />
    <Section title="Words">
      <p>
        <code>search</code> takes up to {longest.search} characters. It is split at spaces, and every word must occur
        somewhere in one of the searched fields, also inside of a longer word. Case and accents do not matter:{' '}
        <code>zoe</code> finds <em>Zoë</em>. Nor does it matter how a letter is written that many keyboards lack:{' '}
        <code>mueller</code>, <code>muller</code> and <code>müller</code> each find <em>Müller</em>,{' '}
        <code>strasse</code> finds <em>Straße</em>. Words with an <code>@</code> and words of up to three letters are
        taken as they are written.
      </p>
      <Example name="search" title="Contacts with both words" />
      <p>
        The total is exact up to {formatNumber(mostCounted)} records and null above; the pages are complete all the
        same. What was written is found at once.
      </p>
      <div className="card table-frame">
        <table className="reference-table">
          <thead>
            <tr>
              <th scope="col">List</th>
              <th scope="col">Where words are looked for</th>
            </tr>
          </thead>
          <tbody>
            {searched.map(({ name, fields }) => (
              <tr key={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td>
                  <Prose text={fields.map((field) => `\`${field}\``).join(', ')} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
    <Section title="Filters">
      <p>
        Filters go together with words and with each other: all must hold. An account or publication that does not exist
        gives an empty page. A parameter that a list does not know is refused, with the name of the one you may have
        meant, so a misspelt filter never shows more than you asked for.
      </p>
      <Example name="searchInAccount" title="In one account, hidden contacts too" />
      <div className="card table-frame">
        <table className="reference-table">
          <thead>
            <tr>
              <th scope="col">List</th>
              <th scope="col">Parameter</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {filters.map(({ name, parameter, about }) => (
              <tr key={`${name} ${parameter}`}>
                <td>
                  <code>{name}</code>
                </td>
                <td>
                  <code>{parameter}</code>
                </td>
                <td>
                  <Prose text={about} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  </Document>
)
