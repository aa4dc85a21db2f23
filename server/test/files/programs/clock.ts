/** What the clocks of the zone show at the instant: `2024-06-01T02:00:42`. */
export const localTime = (instant: string, timeZone: string): string =>
  new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
    .format(new Date(instant))
    .replace(' ', 'T')
