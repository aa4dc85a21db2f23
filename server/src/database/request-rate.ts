import { sessionName } from './connections/connection.ts'
import type { Query } from './connections/statement.ts'

/**
 * Imports, which may run on other machines, find out here how busy the service is: a process names a session of its own
 * after the requests of its last second. Everybody may read the names of sessions, and nothing is written.
 */
export const publishRequestRate = (query: Query): { countRequest: () => void; stop: () => void } => {
  let count = 0
  let published = 0
  const publish = async (): Promise<void> => {
    const requests = count
    count = 0
    if (requests === 0 && published === 0) return
    published = requests
    await query({
      text: `select set_config('application_name', $1, false)`,
      values: [`${sessionName}, ${requests} requests/s`],
    })
  }
  // While the database does not answer, nobody imports either.
  const publishing = setInterval(() => void publish().catch(() => {}), 1_000).unref()
  return {
    countRequest: () => {
      count++
    },
    stop: () => clearInterval(publishing),
  }
}

/** How many requests all processes answered in their last second. */
export const requestsEachSecond = `
  select coalesce(sum(substring(application_name from '^masthead [^,]+, ([0-9]+) requests/s$')::integer), 0) as requests
  from pg_stat_activity where datname = current_database()`
