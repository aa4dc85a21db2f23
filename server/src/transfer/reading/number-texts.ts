/** What precedes the decimals. */
export type DecimalSign = 'comma' | 'point'

/** A number as it is written: without its sign and currency, which mean the same everywhere. */
type WrittenNumber = { isNegative: boolean; digits: string; currency: string }

const currency =
  '[€$£¥₣₤₺₽₹]|[A-Z]{2,3}\\$|(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|MXN|ARS|BRL|Fr\\.?|SFr\\.?|kr\\.?|zł)'
/** Signs and short names that stand for one currency. A dollar alone is that of the United States, unless another is named. */
const codes: Record<string, string> = {
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₺': 'TRY',
  '₽': 'RUB',
  zł: 'PLN',
  '₣': 'CHF',
  Fr: 'CHF',
  'Fr.': 'CHF',
  SFr: 'CHF',
  'SFr.': 'CHF',
  $: 'USD',
  US$: 'USD',
  CA$: 'CAD',
  AU$: 'AUD',
}

export const currencyCode = (written: string): string => codes[written] ?? written.replace(/\.$/, '')

const minus = '[-−–]'
const shape = new RegExp(
  `^(?<sign>${minus}|\\+)?\\s*(?<before>${currency})?\\s*(?<inner>${minus}|\\+)?\\s*(?<digits>[0-9][0-9.,'’\\s]*|[.,][0-9]+)(?<trailing>${minus})?\\s*(?<after>${currency})?$`,
  'u',
)

/** Longer texts are none, and would cost much to look at. */
const longest = 60

export const writtenNumber = (text: string): WrittenNumber | null => {
  if (text.length > longest) return null
  const { sign, before, inner, digits, trailing, after } = shape.exec(text)?.groups ?? {}
  if (digits === undefined) return null
  const signs = [sign, inner, trailing].filter((one) => one !== undefined)
  if (signs.length > 1 || (before !== undefined && after !== undefined)) return null
  return {
    isNegative: signs[0] !== undefined && signs[0] !== '+',
    digits: digits.trim(),
    currency: before ?? after ?? '',
  }
}

const groups = {
  point: /^([1-9]\d{0,2}(?:([,\s'’])\d{3})(?:\2\d{3})*|\d+)?(?:\.(\d*))?$/,
  comma: /^([1-9]\d{0,2}(?:([.\s'’])\d{3})(?:\2\d{3})*|\d+)?(?:,(\d*))?$/,
}

/** With a point and no grouping; null when it is not written so. */
export const numberIn = (sign: DecimalSign, { isNegative, digits }: WrittenNumber): string | null => {
  const [all, whole = '0', , decimals = ''] = groups[sign].exec(digits) ?? []
  if (all === undefined) return null
  const number = whole.replaceAll(/\D/g, '') + (decimals === '' ? '' : `.${decimals}`)
  return isNegative ? `-${number}` : number
}

export const numberName = (sign: DecimalSign, digits: ReadonlySet<string>): string => {
  const group = digits.has(' ') ? ' ' : digits.has("'") ? "'" : sign === 'comma' ? '.' : ','
  return sign === 'comma' ? `1${group}234,56` : `1${group}234.56`
}
