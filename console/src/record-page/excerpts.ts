const longest = 120
const around = 30

/** Of two long texts, the parts in which they differ; all else as it is. */
export const excerptsOf = (before: unknown, after: unknown): [unknown, unknown] => {
  if (typeof before !== 'string' || typeof after !== 'string') return [before, after]
  if (Math.max(before.length, after.length) <= longest) return [before, after]
  const [old, now] = [[...before], [...after]]
  const shorter = Math.min(old.length, now.length)
  let start = 0
  while (start < shorter && old[start] === now[start]) start += 1
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1
  const cut = (text: readonly string[]): string => {
    const [from, to] = [Math.max(start - around, 0), Math.min(text.length - end + around, text.length)]
    return `${from > 0 ? '…' : ''}${text.slice(from, to).join('')}${to < text.length ? '…' : ''}`
  }
  return [cut(old), cut(now)]
}
