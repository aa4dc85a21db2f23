import { resourceNames } from '@masthead/contract'
import { capitalised } from '../records/kinds.ts'
import { useManagement } from '../session.tsx'
import { SaveButton } from './save-button.tsx'

/** For who has no file yet: one with all columns for each kind of records. */
export const Templates = () => {
  const management = useManagement()
  return (
    <section className="card form-section" aria-labelledby="import-templates">
      <h2 id="import-templates">Templates</h2>
      <p className="muted">
        No file yet? Fill in one of these. Your own columns work as well: their names are matched in English, German,
        French and Spanish.
      </p>
      <ul className="templates">
        {resourceNames.map((name) => (
          <li key={name}>
            <SaveButton load={() => management.importTemplates.get(name)}>
              {capitalised(name)}
              <span className="visually-hidden"> template</span>
            </SaveButton>
          </li>
        ))}
      </ul>
    </section>
  )
}
