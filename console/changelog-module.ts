import type { Plugin } from 'vite'

type Release = { title: string; changes: string[] }

/** The changelog as data, so that no browser has to read Markdown. Fails where it holds more than the page can show. */
export const changelogModule: Plugin = {
  name: 'changelog',
  transform: {
    filter: { id: /\/CHANGELOG\.md$/ },
    handler: (text) => ({ code: `export const releases = ${JSON.stringify(readReleases(text))}`, moduleType: 'js' }),
  },
}

const readReleases = (text: string): Release[] => {
  const releases: Release[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const release = releases.at(-1)
    if (line === '' || line.startsWith('# ')) continue
    if (line.startsWith('## ')) releases.push({ title: line.slice(3), changes: [] })
    else if (release && line.startsWith('- ')) release.changes.push(line.slice(2))
    else if (release && line.startsWith('  ') && release.changes.length > 0)
      release.changes.push(`${release.changes.pop()} ${line.trim()}`)
    else throw new Error(`CHANGELOG.md:${index + 1}: the portal shows headings "## …" and items "- …" only`)
  }
  return releases
}
