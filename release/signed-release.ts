import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pack } from './pack.ts'

/** SECURITY.md names them for those who verify a release. */
const namespace = 'masthead'
const signer = 'release@masthead.example'

/** A line of `allowed_signers` for a public key. */
export const allowedSigner = (publicKey: string): string => `${signer} namespaces="${namespace}" ${publicKey}`

/** Packs twice, and writes the tarballs, `SHA256SUMS`, its signature and the release notes into a folder; nothing where a step fails. */
export const writeRelease = async (key: string, notes: string, into: string): Promise<void> => {
  const old = await readdir(into).catch(() => [])
  if (old.length > 0) throw new Error(`${into} holds ${old.length} files already: move them away`)
  const made = await mkdtemp(join(tmpdir(), 'masthead-release-'))
  const [release, again] = [join(made, 'release'), join(made, 'again')]
  try {
    const tarballs = await pack(release)
    await pack(again)
    const sums = await Promise.all(
      tarballs.map(async (path) => {
        const name = basename(path)
        const [sum, other] = [await sumOf(path), await sumOf(join(again, name))]
        if (sum !== other) throw new Error(`two builds of ${name} differ`)
        return `${sum}  ${name}\n`
      }),
    )
    await writeFile(join(release, 'RELEASE-NOTES.md'), notes)
    await writeFile(join(release, 'SHA256SUMS'), sums.join(''))
    await writeFile(join(release, 'SHA256SUMS.sig'), signatureOf(sums.join(''), key))
    await cp(release, into, { recursive: true })
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

const sumOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

/** Whether a file of allowed signers names the key. Throws where the key cannot sign. */
export const isAllowedSigner = async (key: string, allowedSigners: string): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-signature-'))
  try {
    const signature = join(folder, 'signature')
    await writeFile(signature, signatureOf('', key))
    const words = ['-Y', 'verify', '-f', allowedSigners, '-I', signer, '-n', namespace, '-s', signature]
    return spawnSync('ssh-keygen', words, { input: '' }).status === 0
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const signatureOf = (text: string, key: string): string => {
  const words = ['-q', '-Y', 'sign', '-n', namespace, '-f', key]
  const { status, stdout } = spawnSync('ssh-keygen', words, {
    input: text,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`ssh-keygen cannot sign with ${key}`)
  return stdout
}
