import { releases } from '../../../CHANGELOG.md'
import { Document, Section } from './document.tsx'
import { Prose } from './prose.tsx'

export const Page = () => (
  <Document title="Changelog" lead="What is new in the service, its API and its client.">
    {releases.map(({ title, changes }) => (
      <Section key={title} title={title}>
        <ul className="points">
          {changes.map((change) => (
            <li key={change}>
              <Prose text={change} />
            </li>
          ))}
        </ul>
      </Section>
    ))}
  </Document>
)
