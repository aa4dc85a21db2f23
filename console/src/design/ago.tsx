import { formatAgo, formatInstant } from './formats.ts'

/** How long ago, or how far ahead; the instant itself is told to who points at it. */
export const Ago = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatInstant(at)}>
    {formatAgo(at)}
  </time>
)
