import { changePages, changesRelation, mostFollowedByToken, problems } from '@masthead/contract'
import { formatNumber } from '../../design/formats.ts'
import { Document, Section } from '../document.tsx'
import { Example } from '../example.tsx'
import { TokenCard } from '../token-card.tsx'

export const Page = () => (
  <Document
    title="Keep a copy current"
    lead="Take everything once, then ask what has changed, or be told. Nothing is missed, whatever others write meanwhile."
  >
    <TokenCard />
    <Section title="What has changed">
      <p>
        <code>/changes</code> answers <code>items</code>, a <code>cursor</code> and <code>hasMore</code>. Each item
        names its <code>resource</code> and <code>id</code>, brings the <code>record</code> as it is now, and your own
        key as <code>externalId</code> if an import stored one. Records that were removed for good come with{' '}
        <code>"change": "removed"</code> and no record; hidden and deleted ones come like the others.
      </p>
      <Example name="changes" title="The first changes" />
      <p>
        Without <code>after</code> you get everything from the beginning; with the <code>cursor</code> of the last
        response, what came since. <code>resources</code> names the lists; without it you get all that the token may
        read.
      </p>
    </Section>
    <Section title="Apply, and store the cursor">
      <ol className="points">
        <li>
          Apply the items in their order: store what was <code>written</code>, delete what was <code>removed</code>.
        </li>
        <li>
          Store the cursor together with what you applied, in one transaction if you can. If your program stops in
          between, it goes on exactly there.
        </li>
        <li>
          Go on at once while <code>hasMore</code> is true, then whenever you like: a cursor never expires. A response
          holds {changePages.default} changes unless you ask for more, up to {formatNumber(changePages.maximum)}.
        </li>
      </ol>
      <Example name="keepCopy" title="What has changed since the last run" />
    </Section>
    <Section title="Be told as it changes">
      <p>
        A stream brings changes within a second of their commit. Each event has the cursor after it as its{' '}
        <code>id</code>. Connections end now and then, for example when the service is updated: connect again with the
        last <code>id</code> in <code>Last-Event-ID</code>, and nothing is missed or comes twice.{' '}
        <code>@masthead/client</code> does that by itself.
      </p>
      <Example name="follow" title="Follow changes as a stream" />
      <p>
        Where a stream does not fit, <code>wait={changePages.longestWaitSeconds}</code> lets a call wait up to{' '}
        {changePages.longestWaitSeconds} seconds for something to come. A token may have {mostFollowedByToken} streams
        and {mostFollowedByToken} waiting calls.
      </p>
    </Section>
    <Section title="After a walk over a list">
      <p>
        The last page of every list has a <code>Link</code> of the relation <code>{changesRelation}</code>: what has
        changed in that list since the first page of the walk. With <code>@masthead/client</code> it is the{' '}
        <code>changesCursor</code> of the list. It is about the whole list, also where the walk had a filter.
      </p>
    </Section>
    <Section title="When a cursor is refused">
      <p>
        {problems.invalid_cursor.status} <code>invalid_cursor</code> says that the cursor was changed, belongs to
        another organisation, or that the database has lost changes that you have: it was restored from a backup. Then
        take the copy anew, without <code>after</code>.
      </p>
    </Section>
  </Document>
)
