/** Scrolls by itself, also by keyboard, so that the page need not. */
export const Code = ({ text, label }: { text: string; label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <section className="code" aria-label={label} tabIndex={0}>
    <pre>
      <code>{text}</code>
    </pre>
  </section>
)
