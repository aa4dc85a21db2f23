import { distance as editDistance } from 'fastest-levenshtein'

/** Finds the known name that was probably meant. */
export const nearestName = (given: string, known: readonly string[]): string | null => {
  let best: { name: string; distance: number } | null = null
  for (const name of known) {
    const most = Math.min(Math.max(2, name.length / 3), best ? best.distance - 1 : Number.POSITIVE_INFINITY)
    // The distance is at least the difference in length, which excludes most names at once.
    if (Math.abs(given.length - name.length) > most) continue
    const distance = editDistance(given.toLowerCase(), name.toLowerCase())
    if (distance <= most) best = { name, distance }
  }
  return best?.name ?? null
}

/** Suggests the nearest name, or lists the known ones. */
export const suggestion = (given: string, known: readonly string[]): string => {
  const nearest = nearestName(given, known)
  if (nearest) return `Did you mean \`${nearest}\`?`
  return known.length > 0 ? `Known: ${known.map((name) => `\`${name}\``).join(', ')}.` : 'None is accepted here.'
}
