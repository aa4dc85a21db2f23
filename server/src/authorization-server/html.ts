const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** Markup that is safe to put in a page: only `html` and `trusted` make it. */
export class Html {
  readonly #markup: string

  private constructor(markup: string) {
    this.#markup = markup
  }

  static trusted(markup: string): Html {
    return new Html(markup)
  }

  toString(): string {
    return this.#markup
  }
}

type Part = string | Html | readonly Html[] | false | undefined

const render = (part: Part): string => {
  if (part === false || part === undefined) return ''
  if (typeof part === 'string') return escaped(part)
  return part instanceof Html ? part.toString() : part.join('')
}

/** A template whose every value is escaped, unless it is markup already. Attribute values stand in double quotes. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  Html.trusted(String.raw({ raw: strings }, ...parts.map(render)))

/**
 * Text without what could disturb the text around it: control and bidirectional control characters (a stray U+2069
 * ends even the isolation of `<bdi>`), and accents piled so high that they reach other lines.
 */
export const calm = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .replace(/(\p{M}{4})\p{M}+/gu, '$1')
    .trim()

/** What somebody else wrote, to be read: a name, an address. */
export const foreign = (text: string): Html => html`<bdi>${calm(text)}</bdi>`
