/**
 * The tables of tenants in a statement for which it does not say `tenant_id = $1`, or, where it inserts, does not name the
 * column. It reads the text: each query is looked at by itself, down to its parentheses.
 */
export const unnamedTenants = (text: string, tables: readonly string[]): string[] => {
  const plain = text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'(?:[^']|'')*'/g, (literal) => (/^'[0-9a-f-]{36}'$/.test(literal) ? '$1' : "''"))
  return levelsOf(plain).flatMap((level) => unnamedIn(level, tables))
}

/** The text of each query, without those inside it. Parentheses that hold no query belong to what is around them. */
const levelsOf = (text: string): string[] => {
  const found: string[] = []
  const take = (from: number, isQuery: boolean): { end: number; own: string } => {
    let own = ''
    let at = from
    for (; at < text.length && text[at] !== ')'; at++) {
      if (text[at] !== '(') {
        own += text[at]
        continue
      }
      const isInner = /^\(\s*(with|select|insert|update|delete)\b/i.test(text.slice(at))
      const inner = take(at + 1, isInner)
      own += isInner ? '()' : `(${inner.own})`
      at = inner.end
    }
    if (isQuery) found.push(...own.split(/\bunion(?: all)?\b/i))
    return { end: at, own }
  }
  take(0, true)
  return found
}

const words =
  'as|on|where|set|using|join|left|right|full|cross|inner|order|group|window|limit|for|select|returning|values|default|from'

const unnamedIn = (level: string, tables: readonly string[]): string[] => {
  const names = tables.join('|')
  const unnamed: string[] = []
  for (const [, table = '', columns] of level.matchAll(
    new RegExp(`\\binsert into (${names})\\b(?:\\s*as \\w+)?\\s*(\\([^()]*\\))?`, 'gi'),
  ))
    if (!/\(\s*tenant_id\b/.test(columns ?? '')) unnamed.push(table)
  const rest = level.replaceAll(/\binsert into \w+|\bcopy \w+/gi, '')
  const reference = new RegExp(
    `(?:\\bfrom|\\bjoin|\\bupdate|\\busing|,)\\s+(?:only\\s+)?(${names})\\b(?!\\s*[.(])(?:\\s+(?:as\\s+)?(?!(?:${words})\\b)(\\w+))?`,
    'gi',
  )
  const read = [...rest.matchAll(reference)].map(([, table = '', alias]) => ({ table, name: alias ?? table }))
  for (const { table, name } of read) {
    const qualified = new RegExp(`\\b${name}\\.tenant_id = \\$1(?!\\d)`)
    const isAlone = read.length === 1 && /(?<![.\w])tenant_id = \$1(?!\d)/.test(rest)
    if (!qualified.test(rest) && !isAlone) unnamed.push(table)
  }
  return unnamed
}
