import { scopes, version } from '@masthead/contract'
import { Link } from '../address.tsx'
import { changelog, guides, openapi, reference } from './contents.ts'
import { Document, Section } from './document.tsx'
import { Example } from './example.tsx'
import { TokenCard } from './token-card.tsx'

export const Page = () => (
  <Document
    title="Build with Masthead"
    lead={`The customer API of a publishing business, version ${version}: accounts, contacts, publications, subscriptions and invoices over HTTP, as JSON.`}
  >
    <Section title="1. Get a token">
      <p>
        Every call carries a token in its <code>Authorization</code> header. To try things out, a personal access token
        is the quickest; programs that run by themselves get a service token from an administrator, and applications
        that act for others <Link to="/docs/guides/pkce">ask the user</Link>.
      </p>
      <TokenCard />
    </Section>
    <Section title="2. Make the first call">
      <Example name="firstCall" title="Two contacts" />
      <p>
        <code>items</code> are the records of this page, <code>total</code> is how many there are in all. The{' '}
        <code>Link</code> header holds the address of the next page, and <code>RateLimit</code> what is left of your
        minute.
      </p>
    </Section>
    <Section title="3. Read everything">
      <p>
        In TypeScript and JavaScript <code>npm install @masthead/client</code> brings typed records and errors, walks,
        retries and sign-in, and no dependencies. Everything else with HTTP works as well.
      </p>
      <Example name="walk" title="All contacts" />
    </Section>
    <Section title="What a token may do">
      <p>A token carries scopes, and a personal one never does more than the role of its user allows.</p>
      <div className="card table-frame">
        <table className="reference-table">
          <thead>
            <tr>
              <th scope="col">Scope</th>
              <th scope="col">Allows to</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(scopes).map(([scope, words]) => (
              <tr key={scope}>
                <td>
                  <code>{scope}</code>
                </td>
                <td>{words}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
    <Section title="Where to go from here">
      <ul className="doors">
        {[...guides, changelog, reference].map(({ to, label, about }) => (
          <li key={to}>
            <Link to={to} className="card door">
              <strong>{label}</strong>
              <span className="muted">{about}</span>
            </Link>
          </li>
        ))}
        <li>
          <a href={openapi.href} className="card door">
            <strong>{openapi.label}</strong>
            <span className="muted">{openapi.about}</span>
          </a>
        </li>
      </ul>
    </Section>
  </Document>
)
