import { releases } from '../../../CHANGELOG.md'
import { Document, Section } from './document.tsx'
import { Prose } from './prose.tsx'

export const Page = () => (
  <Document title="Changelog" lead="What has changed in the API and its client, for who builds with them.">
    {releases.map(({ title, changes }) => (
      <Section key={title} title={title}>
        <ul className="points">
          {changes.map((pieces) => (
            <li key={pieces.map(({ text }) => text).join('')}>
              {pieces.map((piece) => (
                <Shown key={`${piece.kind} ${piece.text}`} {...piece} />
              ))}
            </li>
          ))}
        </ul>
      </Section>
    ))}
  </Document>
)

type Piece = (typeof releases)[number]['changes'][number][number]

const Shown = ({ kind, text, href }: Piece) => {
  switch (kind) {
    case 'code':
      return <code>{text}</code>
    case 'strong':
      return (
        <strong>
          <Prose text={text} />
        </strong>
      )
    case 'link':
      return <a href={href}>{text}</a>
    case 'text':
      return text
  }
}
