import { largest, problems } from '@masthead/contract'
import { useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Document, Section } from '../document.tsx'
import { Example } from '../example.tsx'
import { Prose } from '../prose.tsx'
import { TokenCard } from '../token-card.tsx'

const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`

export const Page = () => (
  <Document title="Errors" lead="How the service says no, and what to do about each of its reasons.">
    <TokenCard />
    <Section title="Problem details">
      <p>
        Every refusal is a problem of RFC 9457, <code>application/problem+json</code>. Decide by <code>code</code>,
        which is stable, and show <code>detail</code> to people: it says what is wrong this time. <code>errors</code>{' '}
        names the places in the request, by <code>pointer</code> into the body, <code>parameter</code> or{' '}
        <code>header</code>. Whoever asks for help should quote <code>requestId</code>: it finds the request in the log
        of the operator.
      </p>
      <Example name="problem" title="A misspelt parameter" />
      <p>
        Checks have an order: token, limits, scope, request, existence. A record of another organisation is 404, as if
        it did not exist. A body may weigh {kibibytes(largest.bodyBytes)}, an address {kibibytes(largest.urlBytes)}, all
        headers {kibibytes(largest.headBytes)}.
      </p>
    </Section>
    <AllProblems />
  </Document>
)

/** Pages of the service about a problem link to its line. */
const AllProblems = () => {
  const hash = useRouterState({ select: ({ location }) => location.hash })
  useEffect(() => {
    document.getElementById(hash)?.scrollIntoView()
  }, [hash])
  return (
    <Section title="All problems">
      <div className="card table-frame">
        <table className="reference-table">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Code</th>
              <th scope="col">Cause and cure</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(problems).map(([code, { status, title, cause, cure }]) => (
              <tr key={code} id={code} {...(hash === code && { 'aria-current': 'true' })}>
                <td className="number">{status}</td>
                <td>
                  <code>{code}</code>
                </td>
                <td>
                  <strong>{title}.</strong> <Prose text={cause} />
                  <br />
                  <Prose text={cure} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}
