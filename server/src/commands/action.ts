import type { Command } from 'commander'
import { showJson } from './output.ts'

/** Prints the result of a command: with `--json` as one JSON document, otherwise as `show` describes it to a person. */
export const action = <Arguments extends unknown[], Result>(
  command: Command,
  run: (...args: Arguments) => Promise<Result>,
  show: (result: Result, ...args: Arguments) => void,
  toJson?: (result: Result, ...args: Arguments) => unknown,
): Command =>
  command.option('--json', 'print one JSON document').action(async (...given) => {
    const args = given.slice(0, -1) as Arguments // commander appends the command itself
    const result = await run(...args)
    if (command.opts().json) showJson(toJson ? toJson(result, ...args) : result)
    else show(result, ...args)
  })
