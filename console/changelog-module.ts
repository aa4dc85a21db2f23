import type { Plugin } from 'vite'

/** A part of a line: plain, or as its kind says. */
type Piece = { kind: 'text' | 'code' | 'strong' | 'link'; text: string; href?: string }
type Release = { title: string; changes: Piece[][] }

/** What of the changelog is for integrators, as data, so that no browser has to read Markdown. Fails where a line is of another kind. */
export const changelogModule: Plugin = {
  name: 'changelog',
  transform: {
    filter: { id: /\/CHANGELOG\.md$/ },
    handler: (text) => ({ code: `export const releases = ${JSON.stringify(readReleases(text))}`, moduleType: 'js' }),
  },
}

/** An item is for integrators by its mark, or by the heading that a release puts above it. */
const mark = 'API: '
const integrators = '### For integrators'

const readReleases = (text: string): Release[] => {
  const releases: { title: string; changes: string[] }[] = []
  let isForIntegrators = false
  for (const [index, line] of text.split('\n').entries()) {
    const release = releases.at(-1)
    if (line.startsWith('#')) isForIntegrators = line === integrators
    if (line.startsWith('## ')) releases.push({ title: line.slice(3), changes: [] })
    else if (!release || line === '' || line.startsWith('### ')) continue
    else if (line.startsWith('- ')) release.changes.push(isForIntegrators ? mark + line.slice(2) : line.slice(2))
    else if (line.startsWith('  ') && release.changes.length > 0)
      release.changes.push(`${release.changes.pop()} ${line.trim()}`)
    else throw new Error(`CHANGELOG.md:${index + 1}: the portal shows headings "## …" and "### …" and items "- …" only`)
  }
  return releases
    .map(({ title, changes }) => ({
      title,
      changes: changes
        .filter((change) => change.startsWith(mark))
        .map((change) => readPieces(change.slice(mark.length))),
    }))
    .filter(({ changes }) => changes.length > 0)
}

const readPieces = (text: string): Piece[] =>
  text
    .split(/(`[^`]+`|\*\*.+?\*\*|\[[^\]]+\]\([^)]+\))/)
    .filter((piece) => piece !== '')
    .flatMap((piece): Piece[] => {
      if (piece.startsWith('`')) return [{ kind: 'code', text: piece.slice(1, -1) }]
      // What is bold may hold code.
      if (piece.startsWith('**')) return [{ kind: 'strong', text: piece.slice(2, -2) }]
      const [, label, href] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? []
      if (label === undefined || href === undefined) return [{ kind: 'text', text: piece }]
      // The portal does not serve the files of the repository.
      return [/^https?:/.test(href) ? { kind: 'link', text: label, href } : { kind: 'text', text: label }]
    })
