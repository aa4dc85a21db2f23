import type { Token } from '@masthead/client/management'
import type { Role } from '@masthead/contract'
import type { ReactNode } from 'react'
import { Ago } from '../design/ago.tsx'
import { Badge } from '../design/badge.tsx'
import { formatDay } from '../design/formats.ts'
import { TableHead } from '../design/table-head.tsx'
import { ScopeNames } from './scope-choice.tsx'

const day = 86_400_000

const hasEnded = ({ revokedAt, expiresAt }: Token): boolean =>
  revokedAt !== null || new Date(expiresAt).getTime() <= Date.now()

const endsSoon = (token: Token): boolean =>
  !hasEnded(token) && new Date(token.expiresAt).getTime() - Date.now() < 7 * day

type TokenTableProps<T extends Token> = {
  tokens: readonly T[]
  caption: string
  /** Whose scopes the token cannot exceed. */
  role?: Role
  /** A line below the scopes. */
  note?: (token: T) => ReactNode
  actions?: (token: T) => ReactNode
}

const TokenTable = <T extends Token>({ tokens, caption, role = 'admin', note, actions }: TokenTableProps<T>) => (
  <div className="card table-frame">
    <table className="records plain">
      <caption className="visually-hidden">{caption}</caption>
      <TableHead
        columns={['Name', 'Last use', 'Made', actions ? 'Ends' : 'Ended']}
        hasActions={actions !== undefined}
      />
      <tbody>
        {tokens.map((token) => (
          <tr key={token.id}>
            <td>
              <strong className="row-title">{token.name}</strong>
              {token.revokedAt !== null && <Badge tone="problem">Revoked</Badge>}
              {endsSoon(token) && <Badge tone="caution">Ends soon</Badge>}
              <ScopeNames names={token.scopes} role={role} />
              {note?.(token)}
            </td>
            <td data-label="Last use">
              {token.lastUsedAt ? <Ago at={token.lastUsedAt} /> : <span className="muted">Never</span>}
            </td>
            <td data-label="Made">
              <Ago at={token.createdAt} />
            </td>
            <td data-label={actions ? 'Ends' : 'Ended'}>
              <End token={token} />
            </td>
            {actions && <td className="row-actions">{actions(token)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const End = ({ token }: { token: Token }) => {
  const at = token.revokedAt ?? token.expiresAt
  return endsSoon(token) || hasEnded(token) ? <Ago at={at} /> : <time dateTime={at}>{formatDay(at)}</time>
}

type TokenListProps<T extends Token> = Omit<TokenTableProps<T>, 'actions'> & {
  actions: (token: T) => ReactNode
  /** Shown where there is none that works. */
  empty: ReactNode
}

/** Those that work, and folded away those that have ended. */
export const TokenList = <T extends Token>({ tokens, actions, empty, caption, ...rest }: TokenListProps<T>) => {
  const [ended, working] = [tokens.filter(hasEnded), tokens.filter((token) => !hasEnded(token))]
  return (
    <>
      {working.length === 0 && empty}
      {working.length > 0 && <TokenTable tokens={working} caption={caption} actions={actions} {...rest} />}
      {ended.length > 0 && (
        <details className="folded">
          <summary>{ended.length === 1 ? 'One that has ended' : `${ended.length} that have ended`}</summary>
          <TokenTable tokens={ended} caption={`${caption} that have ended`} {...rest} />
        </details>
      )}
    </>
  )
}
