import { distance as editDistance } from 'fastest-levenshtein'

/** The known name that was probably meant, or null when none is near. */
const nearestName = (given: string, known: readonly string[]): string | null => {
  let best: { name: string; distance: number } | null = null
  for (const name of known) {
    const most = Math.min(Math.max(2, name.length / 3), best ? best.distance - 1 : Number.POSITIVE_INFINITY)
    // Most names differ in length by more than that already.
    if (Math.abs(given.length - name.length) > most) continue
    const distance = editDistance(given.toLowerCase(), name.toLowerCase())
    if (distance <= most) best = { name, distance }
  }
  return best?.name ?? null
}

/** "unknown; did you mean `x`?", or the list of what is known. */
export const suggestion = (given: string, known: readonly string[]): string => {
  const nearest = nearestName(given, known)
  if (nearest) return `Did you mean \`${nearest}\`?`
  return known.length > 0 ? `Known: ${known.map((name) => `\`${name}\``).join(', ')}.` : 'None is accepted here.'
}
