import type { TenantDatabase } from '../../database/database.ts'

/** The day that it is in the time zone of the tenant, as YYYY-MM-DD. */
export const readToday = async (tenant: TenantDatabase): Promise<string> => {
  const [row] = await tenant.read<{ timeZone: string }>({
    text: `select time_zone as "timeZone" from tenants where id = $1`,
    values: [],
  })
  return dayIn(row?.timeZone ?? 'UTC')
}

// Sweden writes days as ISO 8601 does.
export const dayIn = (timeZone: string, at = new Date()): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at)
