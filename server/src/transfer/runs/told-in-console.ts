import { messageOf } from '../../error-message.ts'
import type { Refusal } from '../../refusal.ts'

/** Stands for the name of the file, which may look like anything, until the end. */
const file = '\uFFFC'

/** A user of the console knows the file by its own name, and no command. What the database says is for the log. */
export const toldInConsole = ({ message, cause }: Refusal, fileName: string): string => {
  const told = cause === undefined ? message : message.replace(`: ${messageOf(cause)}`, () => '')
  const sentences = told.replaceAll(/\S*masthead-import-\S+?\/[\w.]+/g, file).split(/(?<=[.;?]) /)
  // The name of a file in an archive may look like an option.
  const telling = sentences.filter((sentence) => !/--\w(?![\w-]*\.\w)|`masthead/.test(sentence))
  const kept = (telling.length > 0 ? telling : sentences).join(' ').replace(/(?<!\?)[.;]?$/, '.')
  const reason = kept.replaceAll(file, () => fileName)
  return reason.startsWith(fileName) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}
