import { type Role, roles } from '@masthead/contract'
import { ChoiceField } from '../design/choice-field.tsx'

export const roleNames: Record<Role, { label: string; withArticle: string; words: string }> = {
  admin: {
    label: 'Admin',
    withArticle: 'an admin',
    words:
      'Sees and changes all records, and administers: members, service tokens, applications, imports, audit trail.',
  },
  editor: { label: 'Editor', withArticle: 'an editor', words: 'Sees and changes all records.' },
  viewer: { label: 'Viewer', withArticle: 'a viewer', words: 'Sees all records, and changes none.' },
}

const choices = roles.map((role) => ({ value: role, label: roleNames[role].label, help: roleNames[role].words }))

type RoleChoiceProps = { role: Role; onChange: (role: Role) => void; error?: string | undefined }

export const RoleChoice = ({ role, onChange, error }: RoleChoiceProps) => (
  <ChoiceField
    label="Role"
    choices={choices}
    error={error}
    chosen={[role]}
    onChange={([chosen]) => chosen && onChange(chosen)}
    isSingle
  />
)
