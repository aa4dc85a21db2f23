/** What the operator has set for endpoints outside, as plain data. */
export type WebhookSettings = {
  /** Encrypts signing secrets; null where there is none. */
  secret: string | null
  /** Private and loopback addresses, and plain `http`. */
  allowPrivate: boolean
}
