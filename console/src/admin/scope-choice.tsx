import { allows, isScope, type Role, type Scope, scopes } from '@masthead/contract'
import { ChoiceField } from '../design/choice-field.tsx'
import { roleNames } from './role-choice.tsx'

const all = Object.keys(scopes).filter(isScope)

type ScopeChoiceProps = {
  label: string
  chosen: readonly Scope[]
  onChange: (chosen: Scope[]) => void
  error: string | undefined
  /** Scopes that this role does not allow cannot be chosen. */
  role?: Role
}

export const ScopeChoice = ({ label, chosen, onChange, error, role = 'admin' }: ScopeChoiceProps) => (
  <ChoiceField
    label={label}
    chosen={chosen}
    onChange={onChange}
    error={error}
    choices={all.map((scope) => {
      const isDisabled = !allows(role, scope)
      return {
        value: scope,
        isDisabled,
        label: (
          <>
            {scopes[scope]} <code>{scope}</code>
          </>
        ),
        ...(isDisabled && { help: `Not for ${roleNames[role].withArticle}, which is what you are.` }),
      }
    })}
  />
)

/** Scopes by their names; those that the role does not allow are crossed out, and do nothing. */
export const ScopeNames = ({ names, role = 'admin' }: { names: readonly Scope[]; role?: Role }) => (
  <ul className="scope-names" aria-label="Scopes">
    {names.map((scope) => (
      <li key={scope} title={scopes[scope]}>
        {allows(role, scope) ? (
          <code>{scope}</code>
        ) : (
          <>
            <del>
              <code>{scope}</code>
            </del>{' '}
            (not for {roleNames[role].withArticle})
          </>
        )}
      </li>
    ))}
  </ul>
)
