import type { ShownToken } from '@masthead/client/management'
import { type Scope, scopes } from '@masthead/contract'
import { createContext, type ReactNode, use, useState } from 'react'
import { useSession } from '../session.tsx'
import type { Language, Place } from './examples.ts'

/** Enough for everything that reads, in the examples and in the reference. */
const tokenScopes = Object.keys(scopes).filter((scope): scope is Scope => scope.endsWith(':read'))
export const tokenDays = 7

type Reader = {
  /** What the examples hold. */
  place: Place
  /** In memory only: it goes with the page. */
  token: ShownToken | null
  makeToken: () => Promise<void>
  revokeToken: () => Promise<void>
  language: Language
  chooseLanguage: (language: Language) => void
}

const placeholders = { token: 'YOUR_TOKEN', accountId: 'ACCOUNT_ID', contactId: 'CONTACT_ID' }

const ReaderContext = createContext<Reader | null>(null)

export const useReader = (): Reader => {
  const reader = use(ReaderContext)
  if (!reader) throw new Error('only pages of the portal have a reader')
  return reader
}

export const ReaderProvider = ({ children }: { children: ReactNode }) => {
  const { signedIn } = useSession()
  const [token, setToken] = useState<ShownToken | null>(null)
  const [ids, setIds] = useState<Partial<Place>>({})
  const [language, chooseLanguage] = useState<Language>('curl')

  const makeToken = async () => {
    if (!signedIn) return
    const { management, masthead } = signedIn
    const made = await management.tokens.create({
      name: 'Developer portal',
      scopes: tokenScopes,
      expiresInDays: tokenDays,
    })
    setToken(made)
    const [contact] = (await masthead.contacts.list({ pageSize: 1 })).items
    if (contact) setIds({ accountId: contact.accountId, contactId: contact.id })
  }
  const revokeToken = async () => {
    if (!signedIn || !token) return
    await signedIn.management.tokens.delete(token.id)
    setToken(null)
    setIds({})
  }

  const place = { baseUrl: location.origin, ...placeholders, ...ids, ...(token && { token: token.token }) }
  return (
    <ReaderContext value={{ place, token, makeToken, revokeToken, language, chooseLanguage }}>{children}</ReaderContext>
  )
}
