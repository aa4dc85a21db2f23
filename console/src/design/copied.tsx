import { CopyButton } from './copy-button.tsx'

/** A text that is taken elsewhere as it is. */
export const Copied = ({ label, text }: { label: string; text: string }) => (
  <figure className="copied">
    <figcaption>{label}</figcaption>
    <div className="copied-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is also scrolled by keys */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  </figure>
)
