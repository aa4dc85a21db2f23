import type { Command } from 'commander'
import { buildProgram } from '../../src/commands/program.ts'

/** Every command, as the words that call it. */
const paths = (command: Command, path: string[] = []): { path: string[]; command: Command; isGroup: boolean }[] => [
  { path, command, isGroup: command.commands.length > 0 },
  ...command.commands.flatMap((below) => paths(below, [...path, below.name()])),
]
export const everyCommand = async () => paths(await buildProgram())
