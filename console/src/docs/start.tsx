import { Link } from '../address.tsx'
import { PageHead } from '../design/page-head.tsx'

/** The door of the developer portal. */
export const Page = () => (
  <main className="page docs">
    <PageHead title="Build with Masthead" crumbs={<Link to="/">Masthead</Link>}>
      The customer API of a publishing business, over HTTP, with bearer tokens that carry scopes.
    </PageHead>
    <ul className="tiles">
      <li>
        <a className="card tile" href="/docs/reference">
          <strong>Reference</strong>
          <span className="muted">Every operation, with its fields, scopes and problems, to be tried in place.</span>
        </a>
      </li>
      <li>
        <a className="card tile" href="/customer-api/v1/openapi.json">
          <strong>OpenAPI</strong>
          <span className="muted">The same as a document for programs.</span>
        </a>
      </li>
    </ul>
  </main>
)
