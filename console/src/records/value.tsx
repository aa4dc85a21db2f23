import { identifiersOf, isListed, type ListedName } from '@masthead/contract'
import { Link } from '../address.tsx'
import { Badge, type Tone } from '../design/badge.tsx'
import { formatDate, formatInstant, formatMoney, formatNumber, formatStatus } from '../design/formats.ts'
import { useAccountName } from './account-names.tsx'
import { type Field, isBlank, isStatus } from './fields.ts'
import { kinds } from './kinds.ts'
import { usePublicationName } from './publications.ts'

const tones: Record<string, Tone> = {
  active: 'good',
  paid: 'good',
  open: 'calm',
  pending: 'calm',
  prospect: 'calm',
  grace: 'caution',
  on_hold: 'caution',
  suspended: 'caution',
  past_due: 'problem',
  uncollectible: 'problem',
}

export const Status = ({ status }: { status: string }) => (
  <Badge tone={tones[status.toLowerCase()] ?? 'calm'}>{formatStatus(status)}</Badge>
)

/** What a field of a record holds, for a person to read; nothing where it holds nothing. */
export const Value = ({ field, value }: { field: Field; value: unknown }) => {
  if (isBlank(value)) return null
  const text = String(value)
  if (field.reference && isListed(field.reference)) return <Reference to={field.reference} id={text} />
  if (isStatus(field)) return <Status status={text} />
  switch (field.kind) {
    case 'date':
      return <time dateTime={text}>{formatDate(text)}</time>
    case 'timestamp':
      return (
        <time dateTime={text} title={text}>
          {formatInstant(text)}
        </time>
      )
    case 'money':
      return formatMoney(text)
    case 'integer':
    case 'number':
      return field.name === 'isOpen' ? (text === '1' ? 'Yes' : 'No') : formatNumber(Number(text))
    case 'boolean':
      return value === true ? 'Yes' : 'No'
    case 'uuid':
      return <code>{text}</code>
    case 'text':
      return <Text field={field} text={text} />
  }
}

const Text = ({ field: { content }, text }: { field: Field; text: string }) => {
  if (content === 'email' && /^[^\s@]+@[^\s@]+$/.test(text)) return <a href={`mailto:${text}`}>{text}</a>
  if (content === 'website') {
    const address = webAddressOf(text)
    if (address)
      return (
        <a href={address} target="_blank" rel="noreferrer">
          {text}
        </a>
      )
  }
  return text
}

/** Only what leads to a web site; data comes from outside, and may hold scripts. */
const webAddressOf = (text: string): string | undefined => {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  return url && /^https?:$/.test(url.protocol) && url.hostname.includes('.') ? url.href : undefined
}

export const Reference = ({ to, id }: { to: ListedName; id: string }) => (
  <Link to={kinds[to].one} id={id}>
    {to === 'publications' ? (
      <PublicationName id={id} />
    ) : to === 'accounts' ? (
      <AccountName id={id} />
    ) : (
      shortened(to, id)
    )}
  </Link>
)

/** Numbers do not break at their hyphens unless they must. */
const longNumber = 20

/** The number as well: companies of one name are told apart by it. */
const AccountName = ({ id }: { id: string }) => {
  const name = useAccountName(id)
  if (name === undefined) return id
  return (
    <>
      <bdi>{name}</bdi> <span className={id.length > longNumber ? 'muted small' : 'muted small unbroken'}>{id}</span>
    </>
  )
}

const PublicationName = ({ id }: { id: string }) => usePublicationName(id) ?? shortened('publications', id)

/** People know a business identifier; of an `id` the end is enough. */
const shortened = (to: ListedName, id: string): string =>
  identifiersOf(to).canonical.isIdentifier ? id : `…${id.slice(-6)}`
