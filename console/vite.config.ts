import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { changelogModule } from './changelog-module.ts'
import { docsIndexModule } from './docs-index-module.ts'
import { referenceScript } from './reference-script.ts'
import { servedPaths } from './src/paths.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The server answers these, and no others, with the page that holds the console. */
const tellPaths: Plugin = {
  name: 'paths',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'paths.json', source: JSON.stringify(servedPaths) })
  },
}

/** As small as they go, but for the library of the reference: its last twentieth of a megabyte would take half a minute. */
const encodings: Record<string, (content: Buffer) => Promise<Buffer>> = {
  zstd: (content) =>
    promisify(zstdCompress)(content, { params: { [constants.ZSTD_c_compressionLevel]: isLarge(content) ? 12 : 19 } }),
  br: (content) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: isLarge(content) ? 9 : 11 } }),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
}

const isLarge = (content: Buffer): boolean => content.length > 1_000_000

/** Once here, so that the server only reads. */
const precompress: Plugin = {
  name: 'precompress',
  async writeBundle({ dir = '' }) {
    const files = await readdir(dir, { recursive: true })
    const compressed = files.filter((file) => /\.(html|js|css)$/.test(file))
    await Promise.all(
      compressed.flatMap((file) =>
        Object.entries(encodings).map(async ([encoding, compress]) =>
          writeFile(join(dir, `${file}.${encoding}`), await compress(await readFile(join(dir, file)))),
        ),
      ),
    )
  },
}

export default defineConfig({
  root: at('.'),
  plugins: [react(), changelogModule, docsIndexModule, referenceScript, tellPaths, precompress],
  resolve: {
    // The source, so that no other package has to be built first.
    alias: [
      { find: /^@masthead\/client$/, replacement: at('../client/src/index.ts') },
      { find: /^@masthead\/client\/management$/, replacement: at('../client/src/management.ts') },
    ],
  },
  build: {
    target: 'baseline-widely-available',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // What several pages need is one file: a first page takes 5 files instead of 35, for 3 KiB more.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 3 }] } },
    },
  },
})
