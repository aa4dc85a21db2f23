export const sessionSeconds = 14 * 86_400

/** How the cookies of the provider are set. */
export const sessionCookie = (issuer: string) =>
  ({ httpOnly: true, sameSite: 'lax', signed: true, secure: issuer.startsWith('https:') }) as const
