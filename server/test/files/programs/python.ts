import { type CorpusFile, givenTo, kindOf, recordsOf } from '../corpus.ts'
import { localTime } from './clock.ts'
import { type Made, run } from './command.ts'

/** Debian's own Python, which has the packages. */
const python = '/usr/bin/python3'

export const makeByPython = (file: CorpusFile, to: string): Made => {
  const headings = Object.keys(file.columns)
  const kinds = headings.map((heading) => kindOf(file, heading))
  const rows = recordsOf(file).map((record) =>
    headings.map((heading, index) => {
      const value = givenTo(file, record, heading)
      return kinds[index] === 'timestamp' && value !== null && file.clock !== undefined
        ? localTime(String(value), file.clock)
        : value
    }),
  )
  const script = new URL(`${file.program}-file.py`, import.meta.url).pathname
  const input = JSON.stringify({ headings, kinds, rows, to, how: file.how ?? {} })
  const [version = '', command = ''] = run(python, [script], { input }).trim().split('\n')
  return { program: file.program, version, command }
}
