import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where Debian's golang-github-jackc-pgx-v4-dev puts pgx and what it needs. */
const debian = '/usr/share/gocode'

/** Builds the peer in Go into a folder. Where there is no Go, or no pgx and no proxy to get it from, it says why not. */
export const buildGo = (folder: string): { program: string } | { missing: string } => {
  const program = resolve(folder, 'go-peer')
  // The modules that are found are written beside the copy, not into the sources.
  const modules = resolve(folder, 'go.mod')
  const sources = fileURLToPath(new URL('./go', import.meta.url))
  copyFileSync(join(sources, 'go.mod'), modules)
  const [words, env] = existsSync(join(debian, 'src/github.com/jackc/pgx/v4'))
    ? [[], { GO111MODULE: 'off', GOPATH: debian }]
    : [['-mod=mod', `-modfile=${modules}`], {}]
  const { error, status, stderr } = spawnSync('go', ['build', ...words, '-o', program, 'main.go'], {
    cwd: sources,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  if (error) return { missing: 'go is not installed' }
  return status === 0 ? { program } : { missing: stderr.trim().split('\n').at(-1) ?? 'go build failed' }
}
