const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Markup that is safe to put in a page. Pass nothing to the constructor that holds text of others. */
export class Html {
  readonly #markup: string

  constructor(trustedMarkup: string) {
    this.#markup = trustedMarkup
  }

  toString(): string {
    return this.#markup
  }
}

type Part = string | Html | readonly Html[] | false | undefined

const render = (part: Part): string => {
  if (part === false || part === undefined) return ''
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (character) => entities[character] ?? '')
  return part instanceof Html ? part.toString() : part.join('')
}

/** A template that escapes every value except markup. Attribute values stand in double quotes. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(render)))

/**
 * Removes what could disturb the text around: control and bidirectional control characters (a stray U+2069 ends even the
 * isolation of `<bdi>`), and stacks of accents that reach other lines.
 */
export const calm = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .replace(/(\p{M}{4})\p{M}+/gu, '$1')
    .trim()

/** Shows text that others wrote, such as a name or an address. */
export const foreign = (text: string): Html => html`<bdi>${calm(text)}</bdi>`
