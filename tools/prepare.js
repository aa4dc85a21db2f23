import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What npm runs after an installation in a clone. Node 20 must be able to read this file. */

// The Node from npm comes with headers of C++: 60 MB, and nothing is compiled with them.
for (const platform of ['linux-arm64', 'linux-x64'])
  rmSync(new URL(`../node_modules/node-${platform}/include`, import.meta.url), { recursive: true, force: true })

/** Of packages: 18 MB, and nobody debugs what they lead to. Links, which lead to our own, are not followed. */
const removeSourceMaps = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) removeSourceMaps(path)
    else if (/\.[cm]?js\.map$/.test(path)) rmSync(path)
  }
}
const packages = fileURLToPath(new URL('../node_modules', import.meta.url))
if (existsSync(packages)) removeSourceMaps(packages)

const isInstalled = (name) => {
  try {
    return Boolean(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return false
  }
}

// Without development dependencies nothing can be built, and the API serves without the console.
if (['typescript', 'vite'].every(isInstalled)) {
  const { status } = spawnSync('npm', ['run', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' })
  process.exit(status ?? 1)
}
