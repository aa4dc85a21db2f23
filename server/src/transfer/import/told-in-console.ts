import { messageOf } from '../../error-message.ts'
import type { Refusal } from '../../refusal.ts'

/** A user of the console knows the file by its own name, and no command. What the database says is for the log. */
export const toldInConsole = ({ message, cause }: Refusal, fileName: string): string => {
  const told = cause === undefined ? message : message.replace(`: ${messageOf(cause)}`, () => '')
  const sentences = told.replaceAll(/\S*masthead-import-\S+?\/[\w.]+/g, () => fileName).split(/(?<=[.;?]) /)
  // A name that looks like an option is none.
  const telling = sentences.filter((sentence) => !/--\w|`masthead/.test(sentence.replaceAll(fileName, '')))
  const reason = (telling.length > 0 ? telling : sentences).join(' ').replace(/(?<!\?)[.;]?$/, '.')
  return reason.startsWith(fileName) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}
