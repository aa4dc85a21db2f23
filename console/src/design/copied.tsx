import { CopyButton } from './copy-button.tsx'

type CopiedProps = {
  label: string
  text: string
  /** The same text, laid out to be read. */
  shown?: string
}

/** A text that is taken elsewhere as it is. */
export const Copied = ({ label, text, shown = text }: CopiedProps) => (
  <figure className="copied">
    <figcaption>{label}</figcaption>
    <div className="copied-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is also scrolled by keys */}
      <pre tabIndex={0}>{shown}</pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  </figure>
)
