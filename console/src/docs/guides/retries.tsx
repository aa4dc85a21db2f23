import { idempotencyKeys, problems } from '@masthead/contract'
import { Link } from '../../address.tsx'
import { Document, Section } from '../document.tsx'
import { Example } from '../example.tsx'
import { TokenCard } from '../token-card.tsx'

export const Page = () => (
  <Document title="Retries" lead="Send again when it helps, and have nothing done twice or overwritten.">
    <TokenCard />
    <Section title="When to send again">
      <ul className="points">
        <li>
          <strong>{problems.too_many_requests.status}</strong>: your token or your organisation asked too often. Wait
          for the seconds in <code>Retry-After</code>. <code>RateLimit-Policy</code> tells your limits and{' '}
          <code>RateLimit</code> what is left, on every answer, so a good program slows down before.
        </li>
        <li>
          <strong>{problems.unavailable.status}</strong>: the service cannot answer right now. <code>Retry-After</code>{' '}
          tells when to try again.
        </li>
        <li>
          <strong>No answer</strong>: the connection broke. The request may have been done or not.
        </li>
        <li>
          <strong>{problems.request_in_progress.status}</strong> <code>request_in_progress</code>: your first attempt is
          still running. Try again after <code>Retry-After</code>.
        </li>
      </ul>
      <p>
        Add a random pause that grows with each attempt, so that many programs do not come back in the same instant, and
        give up after a few. Everything else is not worth sending again as it is:{' '}
        <Link to="/docs/guides/errors">the problem says</Link> what to change.
      </p>
    </Section>
    <Section title="POST: an idempotency key">
      <p>
        Reading, updating and deleting can be repeated as they are. A POST could create twice, so give each one an{' '}
        <code>Idempotency-Key</code> of up to {idempotencyKeys.longest} characters: anything that names what is to be
        done and nothing else. Sent again with the same key and the same body within {idempotencyKeys.keptHours} hours,
        it is not done again; the first answer comes back, with <code>Idempotency-Replayed: true</code>. Another body
        under the same key is refused as <code>idempotency_key_reused</code>.
      </p>
      <Example name="createOnce" title="Create a contact, once" />
      <p>
        This one needs a token with <code>contacts:write</code>; the one from this page only reads.{' '}
        <code>@masthead/client</code> makes a key for each POST, and repeats by itself.
      </p>
    </Section>
    <Section title="Updates: If-Match">
      <p>
        Every record comes with an <code>ETag</code> that names its version. Send it in <code>If-Match</code>, and an
        update is done only if nobody else has changed the record since you read it; otherwise you get{' '}
        {problems.precondition_failed.status} <code>precondition_failed</code>, and nothing is changed.
      </p>
      <Example name="updateMine" title="Change only what I have seen" />
      <p>
        If the connection breaks after such an update, read the record before you send it again: your own change looks
        like somebody else's.
      </p>
    </Section>
    <Section title="Reads: If-None-Match">
      <p>
        Send the <code>ETag</code> of what you have. As long as it is current the answer is 304 without a body. One from
        memory does not count against your limit; one with <code>Cache-Control: no-cache</code> does, which{' '}
        <code>fetch</code> sends by itself unless you name another.
      </p>
      <Example name="unchanged" title="Only if it changed" />
    </Section>
  </Document>
)
