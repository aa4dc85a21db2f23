import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { runMasthead } from '../../test/processes/masthead-process.ts'

const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'masthead-completion-'))
after(() => rm(folder, { recursive: true }))
await mkdir(join(folder, 'records'))
await writeFile(join(folder, 'contacts.csv'), '')

const isInstalled = (shell: string): Promise<boolean> =>
  run(shell, ['--version']).then(
    () => true,
    () => false,
  )

/** Each shell, by what prints the words that it offers after a line, of which the last word is being typed. */
const shells: Record<string, (script: string, line: string) => [file: string, ...args: string[]]> = {
  bash: (script, line) => [
    'bash',
    '--noprofile',
    '--norc',
    '-c',
    `source ${script}; compopt() { :; }; COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _masthead; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // What completes is asked for words in a terminal only, so what it would offer is printed instead.
  zsh: (script, line) => [
    'zsh',
    '-f',
    '-c',
    `compdef() { :; }; source ${script}
      compadd() { shift; print -l -- "$@"; }
      _files() { [[ $1 == -/ ]] && print -l -- *(/) || print -l -- *; }
      _describe() { local list=\${@[-1]}; print -l -- \${(P)list%%:*}; }
      words=(${line.replace(/ $/, " ''")}); CURRENT=$#words; PREFIX=\${words[-1]}; _masthead`,
  ],
  fish: (script, line) => ['fish', '--no-config', '-c', `source ${script}; complete --do-complete '${line}'`],
}

const cases: [line: string, offered: string[], notOffered: string[]][] = [
  ['masthead ', ['serve', 'tenant', 'import', 'completion'], ['create', 'admin']],
  ['masthead tenant ', ['create', 'list', 'set'], ['serve', 'invite']],
  ['masthead --json tenant ', ['create'], ['serve']],
  ['masthead user create --', ['--tenant', '--password-stdin', '--json', '--help'], ['--port']],
  ['masthead user create --role ', ['admin', 'editor', 'viewer'], ['--tenant']],
  ['masthead user create --name serve --role ', ['admin'], []],
  ['masthead export --to ', ['records'], ['contacts.csv', 'contacts']],
  ['masthead import ', ['contacts.csv', 'suggest', 'undo'], ['serve']],
  ['masthead import --map ', ['contacts.csv'], ['suggest']],
  ['masthead import template ', ['accounts', 'tasks'], ['suggest']],
  ['masthead completion ', ['bash', 'fish', 'zsh'], ['serve']],
]

describe('masthead completion', () => {
  for (const [shell, asking] of Object.entries(shells)) {
    test(`lets ${shell} complete commands, options, values and files`, async (context) => {
      if (!(await isInstalled(shell))) return context.skip(`there is no ${shell}`)
      const { code, stdout, stderr } = await runMasthead(['completion', shell], {})
      assert.deepEqual([code, stderr], [0, ''])
      const script = join(folder, `script.${shell}`)
      await writeFile(script, stdout)
      for (const [line, offered, notOffered] of cases) {
        const [file, ...args] = asking(script, line)
        const { stdout: text } = await run(file, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } })
        const words = text.split('\n').map((line) => line.replace(/\/?(\t.*)?$/, ''))
        const missing = offered.filter((word) => !words.includes(word))
        const wrong = notOffered.filter((word) => words.includes(word))
        assert.deepEqual([missing, wrong], [[], []], `${line}: ${text}`)
      }
    })
  }
})
