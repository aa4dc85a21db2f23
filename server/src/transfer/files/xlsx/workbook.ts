import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { Refusal } from '../../../refusal.ts'
import type { Archive } from '../archive.ts'
import type { ByteSource } from '../byte-source.ts'

/** What a workbook says about itself. */
export type Workbook = {
  sheets: { name: string; part: string; isHidden: boolean }[]
  /** Days are counted from 1904, as on old Macs, and not from 1900. */
  isFrom1904: boolean
  /** By the index of a style: how its numbers are shown. */
  styles: NumberStyle[]
  strings: string[]
}

/** Whether a number of this style is a day, or is filled up with zeros in front. */
export type NumberStyle = { isDate: boolean; digits: number }

/** Texts that cells share are held in memory; a workbook of 100,000 rows has some 10 MB of them. */
const mostCharacters = 64 * 1024 * 1024
const mostStrings = 5_000_000

export const readWorkbook = async (archive: Archive): Promise<Workbook> => {
  const main = 'xl/workbook.xml'
  if (!archive.names.includes(main)) throw new Refusal(`${archive.path} is no workbook: save it as .xlsx or CSV`)
  const targets = await relationsOf(archive)
  const workbook: Workbook = { sheets: [], isFrom1904: false, styles: [], strings: [] }
  await parseXml(archive.sourceOf(main), ({ name, attributes }) => {
    if (name === 'workbookPr') workbook.isFrom1904 = isTrue(attributes.date1904)
    if (name !== 'sheet') return
    const part = targets.get(attributes['r:id'] ?? idOf(attributes)) ?? ''
    if (!archive.names.includes(part)) return
    const isHidden = attributes.state !== undefined && attributes.state !== 'visible'
    workbook.sheets.push({ name: attributes.name ?? '', part, isHidden })
  })
  if (workbook.sheets.length === 0) throw new Refusal(`${archive.path} has no sheet of cells: save the table as CSV`)
  if (archive.names.includes('xl/styles.xml')) workbook.styles = await readStyles(archive.sourceOf('xl/styles.xml'))
  if (archive.names.includes('xl/sharedStrings.xml'))
    workbook.strings = await readStrings(archive.sourceOf('xl/sharedStrings.xml'))
  return workbook
}

/** Programs give the namespace of relationships any prefix. */
const idOf = (attributes: Record<string, string>): string =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? ''

export const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true'

const relationsOf = async (archive: Archive): Promise<Map<string, string>> => {
  const targets = new Map<string, string>()
  const part = 'xl/_rels/workbook.xml.rels'
  if (!archive.names.includes(part)) return targets
  await parseXml(archive.sourceOf(part), ({ name, attributes: { Id = '', Target = '' } }) => {
    if (name === 'Relationship') targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`)
  })
  return targets
}

const readStyles = async (source: ByteSource): Promise<NumberStyle[]> => {
  const codes = new Map<string, string>()
  const styles: NumberStyle[] = []
  let isInCells = false
  await parseXml(
    source,
    ({ name, attributes: { numFmtId = '', formatCode = '' } }) => {
      if (name === 'numFmt') codes.set(numFmtId, formatCode)
      if (name === 'cellXfs') isInCells = true
      if (name === 'xf' && isInCells) styles.push(styleOf(Number(numFmtId), codes.get(numFmtId)))
    },
    (name) => {
      if (name === 'cellXfs') isInCells = false
    },
  )
  return styles
}

/** What the formats 14 to 22, 27 to 36, 45 to 47 and 50 to 58 are is not written into files. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58)

export const styleOf = (id: number, code: string | undefined): NumberStyle => {
  if (code === undefined) return { isDate: isBuiltInDate(id), digits: 0 }
  // Texts, colours and conditions may hold any letter.
  const bare = code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]/gi, '')
  const digits = /^0{2,20}$/.test(bare) ? bare.length : 0
  return { isDate: /[ymdhs]/i.test(bare) && !/general/i.test(bare), digits }
}

const readStrings = async (source: ByteSource): Promise<string[]> => {
  const strings: string[] = []
  let text = ''
  let characters = 0
  let isText = false
  let phonetic = 0
  await parseXml(
    source,
    ({ name }) => {
      if (name === 'si') text = ''
      if (name === 'rPh') phonetic++
      isText = name === 't' && phonetic === 0
    },
    (name) => {
      if (name === 'rPh') phonetic--
      if (name === 't') isText = false
      if (name !== 'si') return
      characters += text.length
      if (characters > mostCharacters || strings.length >= mostStrings)
        throw new Refusal(`${source.path} has more texts than fit into memory: save the sheet as CSV`)
      strings.push(unescaped(text))
    },
    (piece) => {
      if (!isText) return
      text += piece
      if (text.length > mostCharacters)
        throw new Refusal(`${source.path} has a text that does not fit into memory: save the table as CSV`)
    },
  )
  return strings
}

/** A workbook writes characters that XML does not allow as `_x000D_`. */
export const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(/_x([0-9a-fA-F]{4})_/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text

type Attributes = Record<string, string>

/** What the parser may hold before it tells of something, in bytes, and how deep tags may be nested. */
const mostHeld = 16 * 1024 * 1024
const deepest = 100

const parseXml = async (
  source: ByteSource,
  onOpen: (tag: { name: string; attributes: Attributes }) => void,
  onClose: (name: string) => void = () => {},
  onText: (text: string) => void = () => {},
): Promise<void> => {
  for await (const _ of parsing(source, onOpen, onClose, onText));
}

/** Yields after each piece of the file. Entities of its own are refused, because they could unfold without end. */
export async function* parsing(
  source: ByteSource,
  onOpen: (tag: { name: string; attributes: Attributes }) => void,
  onClose: (name: string) => void,
  onText: (text: string) => void,
): AsyncGenerator<void> {
  const parser = new SaxesParser()
  let refusal: Error | undefined
  parser.on('error', (error) => {
    refusal ??= new Refusal(
      `${source.path} is damaged: ${error.message.replace(/^\d+:\d+: /, '')}; save it again as .xlsx`,
    )
  })
  parser.on('doctype', () => {
    refusal ??= new Refusal(`${source.path} declares entities, which no workbook does: save it again as .xlsx`)
  })
  let held = 0
  let depth = 0
  parser.on('opentag', (tag: SaxesTagPlain) => {
    held = 0
    if (++depth > deepest)
      refusal ??= new Refusal(`${source.path} is nested deeper than ${deepest} levels: save it again as .xlsx`)
    onOpen({ name: localName(tag.name), attributes: tag.attributes })
  })
  parser.on('closetag', (tag: SaxesTagPlain) => {
    depth--
    onClose(localName(tag.name))
  })
  parser.on('text', onText)
  parser.on('cdata', onText)
  const decoder = new TextDecoder('utf-8')
  for await (const chunk of source.read()) {
    held += chunk.length
    parser.write(decoder.decode(chunk, { stream: true }))
    if (refusal) throw refusal
    if (held > mostHeld)
      throw new Refusal(`${source.path} has a text that is longer than 16 MiB: choose a file that holds a table`)
    yield
  }
  parser.write(decoder.decode())
  parser.close()
  if (refusal) throw refusal
  yield
}

/** Some programs write a prefix in front of every name. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
