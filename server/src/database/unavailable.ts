/** Failures of the connection, the server or a lock, after which the same request may succeed. */
const codes = new Set(['25006', '40001', '40P01', '55P03', '57014', '57P01', '57P02', '57P03', 'ENOENT', 'EPIPE'])
/** Connections, and full disks, memory and tables of connections. */
const classes = /^(08|53)/
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered)/

export const isUnavailable = (error: unknown): error is Error => {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return codes.has(code) || classes.test(code) || code.startsWith('ECONN') || messages.test(error.message)
}
