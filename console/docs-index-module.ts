import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/** A section of a page of the portal, with its words. */
type IndexedSection = { to: string; page: string; section: string; text: string }

const name = 'virtual:docs-index'
const at = (path: string): string => fileURLToPath(new URL(`src/docs/${path}`, import.meta.url))

/** The words of the portal for its search, read from its pages, so that nobody has to write them twice. */
export const docsIndexModule: Plugin = {
  name: 'docs-index',
  resolveId: { filter: { id: /^virtual:docs-index$/ }, handler: () => `\0${name}` },
  load: {
    filter: { id: /^\0virtual:docs-index$/ },
    async handler() {
      const guides = (await readdir(at('guides'))).filter((file) => file.endsWith('.tsx'))
      const pages = [
        ['/docs', at('start.tsx')] as const,
        ...guides.map((file) => [`/docs/guides/${file.slice(0, -'.tsx'.length)}`, at(`guides/${file}`)] as const),
      ]
      const sections: IndexedSection[] = []
      for (const [to, file] of pages) {
        this.addWatchFile(file)
        sections.push(...readPage(to, await readFile(file, 'utf8')))
      }
      return { code: `export const sections = ${JSON.stringify(sections)}`, moduleType: 'js' }
    },
  },
}

const readPage = (to: string, source: string): IndexedSection[] => {
  const page = /<Document\s+title="([^"]+)"/.exec(source)?.[1]
  if (page === undefined) throw new Error(`${to} has no title that a search could show`)
  const [head = '', ...sections] = source.slice(source.indexOf('<Document')).split(/<Section title="/)
  return [
    { to, page, section: '', text: wordsOf(/lead="([^"]+)"/.exec(head)?.[1] ?? '') },
    ...sections.map((text) => {
      const [title = '', ...rest] = text.split('">')
      const body = rest.join('">').split(/<\/(?:Section|Document)>/, 1)[0]
      return { to, page, section: title, text: wordsOf(body ?? '') }
    }),
  ]
}

/** What a reader sees of JSX, near enough to find it. */
const wordsOf = (source: string): string =>
  source
    .replaceAll(/\{'([^']*)'\}/g, '$1')
    .replaceAll(/\{[^{}]*\}/g, ' ')
    .replaceAll(/\stitle="([^"]*)"[^<>]*\/>/g, '>$1 ')
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
