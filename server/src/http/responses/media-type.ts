import Negotiator from 'negotiator'

const events = 'text/event-stream'

/** RFC 9110 §12.5.1: whether the caller would rather have a stream of events than JSON, which is what anybody gets who says nothing. */
export const acceptsEvents = (header = ''): boolean =>
  header.includes(events) &&
  new Negotiator({ headers: { accept: header } }).mediaType(['application/json', events]) === events
