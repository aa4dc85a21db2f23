import { commandsPage } from './commands-page.ts'
import { configurationPage } from './configuration-page.ts'
import { fieldsPage } from './fields-page.ts'
import { pageOf, table } from './markdown.ts'
import { operationsPage } from './operations-page.ts'
import { problemsPage } from './problems-page.ts'
import { scopesPage } from './scopes-page.ts'

/** Where the pages are committed. */
export const folder = new URL('../../docs/reference/', import.meta.url)

const pages = {
  'operations.md': {
    holds: 'what can be called: paths, parameters, bodies, responses',
    source: 'contract/src',
    write: operationsPage,
  },
  'fields.md': {
    holds: 'what records, inputs and responses consist of',
    source: 'contract/src/resources',
    write: fieldsPage,
  },
  'scopes.md': { holds: 'what a token may do', source: 'contract/src/scopes.ts', write: scopesPage },
  'problems.md': {
    holds: 'every error, with cause and cure',
    source: 'contract/src/problems.ts',
    write: problemsPage,
  },
  'configuration.md': {
    holds: 'every environment variable',
    source: 'server/src/config.ts',
    write: configurationPage,
  },
  'commands.md': { holds: 'the command line, with every option', source: 'server/src/commands', write: commandsPage },
}

/** The reference, made of the contract, the configuration and the command line, by the names of its pages. */
export const referencePages = async (): Promise<Record<string, string>> => {
  const written = Object.entries(pages).map(async ([name, { write }]) => [name, await write()] as const)
  return { 'README.md': indexPage(), ...Object.fromEntries(await Promise.all(written)) }
}

const indexPage = (): string =>
  pageOf(
    '# Reference',
    '',
    'Generated from the program by `npm run generate`; a test compares each page with a fresh generation.',
    ...table(
      ['page', 'contains', 'generated from'],
      Object.entries(pages).map(([name, { holds, source }]) => [
        `[${name.charAt(0).toUpperCase()}${name.slice(1, -3)}](${name})`,
        holds,
        `[${source}](../../${source})`,
      ]),
    ),
    '',
    '[Behaviour](../behaviour.md) says what callers can rely on, [Operating Masthead](../operating.md) how to run it, and',
    '[the client](../../client/README.md) how to call the API from TypeScript and JavaScript.',
  )
