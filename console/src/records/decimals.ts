/** Money of two decimals, as the API writes it, in cents: exact, however much it is. */
export const centsOf = (amount: string): bigint => BigInt(amount.replace('.', ''))

const amountOf = (cents: bigint): string => {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

export const sumOf = (amounts: readonly string[]): string =>
  amountOf(amounts.map(centsOf).reduce((sum, cents) => sum + cents, 0n))
