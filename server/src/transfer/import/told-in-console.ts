import type { Refusal } from '../../refusal.ts'

/** A user of the console knows the file by its own name, and no command. */
export const toldInConsole = ({ message }: Refusal, fileName: string): string => {
  const sentences = message
    .replaceAll(/\S*masthead-import-\S+?\/[\w.]+/g, fileName)
    .split(/(?<=[.;?]) /)
    .filter((sentence) => !/--\w|`masthead/.test(sentence))
  const reason = sentences.join(' ').replace(/(?<!\?)[.;]?$/, '.')
  return reason.startsWith(fileName) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}
