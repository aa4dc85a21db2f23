import { mostCounted, pageSizes } from '@masthead/contract'
import { Link } from '../../address.tsx'
import { formatNumber } from '../../design/formats.ts'
import { Document, Section } from '../document.tsx'
import { Example } from '../example.tsx'
import { TokenCard } from '../token-card.tsx'

export const Page = () => (
  <Document
    title="Paging and walking"
    lead="Look at one page, or walk over all of them without missing a record or getting one twice."
  >
    <TokenCard />
    <Section title="One page">
      <p>
        Every list answers <code>items</code>, <code>page</code>, <code>pageSize</code> and <code>total</code>. The
        first page is 1. A page holds {pageSizes.default} records unless you ask otherwise, and {pageSizes.maximum} at
        most. What is out of range is refused with 400, never quietly made smaller.
      </p>
      <Example name="onePage" title="The second ten" />
      <p>
        <code>total</code> is exact, however large the list. It is null only where more than {formatNumber(mostCounted)}{' '}
        records match a search, a sorted list, or a filter such as a range of days. A page after the last one is empty
        and still tells the total.
      </p>
    </Section>
    <Section title="All records">
      <p>
        Follow the <code>next</code> address of the <code>Link</code> header until there is none. It carries a{' '}
        <code>cursor</code> that stands for the exact place where the page ended. Whatever others write meanwhile, every
        record that matched when you began and still does comes exactly once; those that are added on the way may come
        too.
      </p>
      <Example name="walk" title="Every contact, once" />
      <p>
        Records come in the order of their arrival, so new ones are at the end. The largest page makes the fewest calls.
      </p>
    </Section>
    <Section title="Stop, and go on later">
      <p>
        A cursor does not expire. Store it after each page that you have dealt with, and go on from there when your
        program starts again. It belongs to the filters and the search it was made with; with others it is refused as{' '}
        <code>invalid_cursor</code>.
      </p>
      <Example name="resume" title="The rest, from a stored cursor" />
    </Section>
    <Section title="What not to do">
      <ul className="points">
        <li>
          Do not count <code>page</code> up to read everything: a record that is deleted on the way moves the others one
          place forward, and one of them is never seen.
        </li>
        <li>
          Do not stop at a page that is not full, and do not compare <code>total</code> with what you have: the last
          page is the one without <code>next</code>.
        </li>
        <li>Do not take the cursor apart or make one: it is sealed, and its content changes.</li>
        <li>
          Do not send <code>cursor</code> and <code>page</code> together: that is 400.
        </li>
        <li>
          Do not walk many lists at once to be quicker: <Link to="/docs/guides/retries">limits</Link> count for the
          token and for the organisation.
        </li>
      </ul>
    </Section>
  </Document>
)
