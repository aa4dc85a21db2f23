import { readFile } from 'node:fs/promises'
import { code, pageOf, sentence, table } from './markdown.ts'

type Group = { heading: string; variables: { name: string; meaning: string; usual: string }[] }

const source = new URL('../src/config.ts', import.meta.url)

export const configurationPage = async (): Promise<string> =>
  pageOf(
    '# Configuration',
    '',
    'Masthead is configured by environment variables alone. Every variable has a default, and an empty one counts as absent.',
    '[`masthead doctor`](commands.md#masthead-doctor) finds mistakes.',
    ...groupsOf(await readFile(source, 'utf8')).flatMap(({ heading, variables }) => [
      '',
      `## ${heading}`,
      ...table(
        ['variable', 'meaning', 'default'],
        variables.map(({ name, meaning, usual }) => [`<a id="${name}"></a>${code(name)}`, meaning, usual]),
      ),
    ]),
    '',
    'The exporter of traces has [further variables](../operating.md#traces).',
  )

/** The comments of the fields: a line for each variable, as "`NAME`: meaning. Default: value." */
const groupsOf = (text: string): Group[] => {
  const [, fields = ''] = /export type Config = \{\n([\s\S]*?)\nexport const readConfig/.exec(text) ?? []
  return fields
    .split(/^ {2}\/\/ (?=[A-Z])/m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const variables = [...lines.join('\n').matchAll(/`([A-Z_]+)`: (.+)\. Default: (.+?)\.(?: \*\/)?$/gm)]
      return {
        heading,
        variables: variables.map(([, name = '', meaning = '', usual = '']) => {
          return { name, meaning: sentence(linked(meaning)), usual }
        }),
      }
    })
}

/** What a comment points at by its path is a link on the page. */
const linked = (meaning: string): string =>
  meaning.replace(/: see docs\/operating\.md#([a-z-]+)$/, '. [More](../operating.md#$1)')
