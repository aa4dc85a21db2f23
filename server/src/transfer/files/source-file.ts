import { Refusal } from '../../refusal.ts'
import { type Archive, allBytes, openArchive } from './archive.ts'
import { type Bounds, boundless, refuseTooMuch, tooManyBytes } from './bounds.ts'
import { type ByteSource, openDiskFile } from './byte-source.ts'
import { textOfCell } from './cell.ts'
import { CsvRows, type Dialect, type SourceRow } from './csv-rows.ts'
import { areOfMysql, EscapedRows, type Escapes } from './escaped-rows.ts'
import { formatOfName } from './file-names.ts'
import { type FileScan, scanFile } from './file-scan.ts'
import { JsonArray } from './json-array.ts'
import { JsonColumns } from './json-cells.ts'
import { JsonLines } from './json-lines.ts'
import { isText, otherFormatOf } from './other-formats.ts'
import { isOfRejectedRows, rowOfRejection } from './rejected-rows.ts'
import { cellOfSpreadsheet } from './spreadsheet-cells.ts'
import { type Encoding, textReader } from './text-encoding.ts'
import { sheetRows } from './xlsx/sheet-rows.ts'
import { readWorkbook } from './xlsx/workbook.ts'

/** A file of records is read in batches of rows, so that its size does not matter. */
export type SourceFile = {
  /** Of a file in an archive that of the archive, and its name in it. */
  path: string
  /** Where the file of its refused rows belongs. */
  rejectedPath: string
  format: 'csv' | 'ndjson' | 'json' | 'xlsx'
  /** Rows are objects, which need not have all columns. */
  hasObjects: boolean
  /** Empty for a workbook. */
  encoding: Encoding | ''
  /** All bytes fit it. */
  isEncodingSure: boolean
  /** Bytes of two encodings are mixed, and nobody has said which is right. */
  isEncodingDoubtful: boolean
  hasByteOrderMark: boolean
  /** Empty where nothing separates cells. */
  separator: string
  /** A line in front of the header, such as `sep=;`, or nothing. */
  separatorLine: string
  lineEnd: '\n' | '\r' | '\r\n'
  escapes: Escapes
  /** What `escapes` could be, too, where nobody has said it. */
  otherEscapes: Escapes[]
  /** Cells of text may have marks for spreadsheets in front. */
  mayHaveMarks: boolean
  sheets: string[]
  sheet: string
  members: string[]
  member: string
  /** In bytes, compressed or not. */
  size: number
  /** How many of them have been read so far. */
  bytes: () => number
  /** The columns of JSON grow while it is read. */
  header: string[]
  /** Without the header, a batch for each piece of the file; each call reads it from its beginning. */
  rows: () => AsyncGenerator<SourceRow[]>
}

/** What is known about a file beside its bytes. */
type FileOptions = {
  encoding?: Encoding | undefined
  sheet?: string | undefined
  /** Only this file of an archive. */
  member?: string | undefined
  /** The names of the columns, for a file whose first line is a row. */
  header?: readonly string[] | undefined
  /** What protects special characters in text with separators. */
  escapes?: Escapes | undefined
  bounds?: Bounds | undefined
}

/** An archive holds several. What a file is shows in its bytes, its name decides where these leave doubt. */
export const openSourceFiles = async (path: string, options: FileOptions = {}): Promise<SourceFile[]> => {
  const { bytes } = options.bounds ?? boundless
  const file = await openDiskFile(path, bytes)
  if (!file.isZip) return [await openTable(file, path, options)]
  const archive = await openArchive(path, bytes)
  if (isWorkbook(archive)) return [await openWorkbook(archive, file, path, options)]
  return openMembers(archive, options)
}

/** The only table of a file; of an archive, the first one or the one that the options name. */
export const openSourceFile = async (path: string, options: FileOptions = {}): Promise<SourceFile> => {
  const [first] = await openSourceFiles(path, options)
  if (first) return first
  throw new Refusal(`${path} holds no file that can be imported: name its files like contacts.csv or invoices.xlsx`)
}

/** The files of an archive that may hold records; none of a file that is no archive. */
export const membersAt = async (path: string, bounds: Bounds): Promise<string[]> => {
  if (!(await openDiskFile(path, bounds.bytes)).isZip) return []
  const archive = await openArchive(path, bounds.bytes)
  if (isWorkbook(archive)) return []
  const members = membersOf(archive)
  // Each of them is bounded by itself, too, but there may be many.
  const size = members.reduce((sum, member) => sum + archive.sourceOf(member).size, 0)
  if (size > bounds.bytes) throw tooManyBytes(path, bounds.bytes)
  return members
}

const isWorkbook = ({ names }: Archive): boolean => names.some((name) => name.startsWith('xl/'))

const membersOf = (archive: Archive): string[] => {
  const { path } = archive
  if (archive.names.includes('mimetype') && archive.names.includes('content.xml'))
    throw new Refusal(`${path} is an OpenDocument spreadsheet: save it as .xlsx or CSV`)
  const members = archive.names.filter((name) => formatOfName(name) !== undefined && !isHidden(name))
  if (members.length === 0)
    throw new Refusal(`${path} holds no file that can be imported: name its files like contacts.csv or invoices.xlsx`)
  return members
}

const openMembers = async (archive: Archive, options: FileOptions): Promise<SourceFile[]> => {
  const { path } = archive
  const members = membersOf(archive)
  if (options.member !== undefined && !members.includes(options.member))
    throw new Refusal(`${path} holds no file ${options.member}; it holds ${members.join(', ')}`)
  const files: SourceFile[] = []
  for (const member of options.member === undefined ? members : [options.member]) {
    const source = archive.sourceOf(member)
    const rejectedPath = `${path}.${member.replaceAll('/', '-')}`
    const file = await openMember(source, rejectedPath, options)
    files.push({ ...file, header: file.header, members, member })
  }
  return files
}

/** What macOS adds to archives. */
const isHidden = (name: string): boolean => /(^|\/)(\.|__MACOSX\/)/.test(name)

const openMember = async (source: ByteSource, rejectedPath: string, options: FileOptions): Promise<SourceFile> => {
  if (!/\.xlsx$/i.test(source.path)) return openTable(source, rejectedPath, options)
  const { bytes } = options.bounds ?? boundless
  const inner = await openArchive(source.path, bytes, await allBytes(source))
  return openWorkbook(inner, source, rejectedPath, options)
}

const openWorkbook = async (
  archive: Archive,
  { path, size }: ByteSource,
  rejectedPath: string,
  { sheet: wanted, bounds = boundless, header: given }: FileOptions,
): Promise<SourceFile> => {
  if (archive.names.includes('xl/workbook.bin'))
    throw new Refusal(`${path} is a binary workbook (.xlsb): save it as .xlsx or CSV`)
  const workbook = await readWorkbook(archive)
  const sheets = workbook.sheets.map(({ name }) => name)
  const sheet =
    wanted === undefined
      ? (workbook.sheets.find(({ isHidden }) => !isHidden) ?? workbook.sheets[0])
      : workbook.sheets.find(({ name }) => name === wanted)
  if (!sheet)
    throw new Refusal(`${path} has no sheet "${wanted}"; it has ${sheets.map((name) => `"${name}"`).join(', ')}`)
  const source = archive.sourceOf(sheet.part)
  const begun = process.cpuUsage()
  async function* rows(): AsyncGenerator<SourceRow[]> {
    let count = 0
    for await (const batch of sheetRows(source, workbook, () => count++)) {
      refuseTooMuch(path, bounds, count, process.cpuUsage(begun))
      yield batch
    }
  }
  const header = given?.slice() ?? (await headerOf(path, rows()))
  async function* padded(): AsyncGenerator<SourceRow[]> {
    for await (const batch of given ? rows() : withoutHeader(rows())) {
      for (const { cells } of batch) while (cells.length < header.length) cells.push(null)
      yield batch
    }
  }
  return {
    path,
    rejectedPath,
    format: 'xlsx',
    hasObjects: false,
    encoding: '',
    isEncodingSure: true,
    isEncodingDoubtful: false,
    hasByteOrderMark: true,
    separator: '',
    ...plainCells,
    mayHaveMarks: true,
    sheets,
    sheet: sheet.name,
    members: [],
    member: '',
    size,
    bytes: () => Math.round((source.bytes() / Math.max(source.size, 1)) * size),
    header,
    rows: padded,
  }
}

/** Files that are no text with separators have nothing to decide here. */
const plainCells = { separatorLine: '', lineEnd: '\n', escapes: 'quotes', otherEscapes: [] as Escapes[] } as const

const openTable = async (source: ByteSource, rejectedPath: string, options: FileOptions): Promise<SourceFile> => {
  const { path, size, bytes } = source
  const { bounds = boundless } = options
  const scan = await scanFile(source, bounds)
  const encoding = encodingOf(path, scan, options.encoding)
  const begun = process.cpuUsage()
  async function* rowsOf(
    makeReader: () => RowReader,
    onRead?: (reader: RowReader) => void,
  ): AsyncGenerator<SourceRow[]> {
    const reader = makeReader()
    const text = textReader(encoding)
    const judge = () => refuseTooMuch(path, bounds, reader.count, process.cpuUsage(begun))
    for await (const chunk of source.read()) {
      const rows = reader.push(text.push(chunk))
      judge()
      onRead?.(reader)
      yield rows
    }
    const rest = [...reader.push(text.end()), ...reader.end()]
    judge()
    onRead?.(reader)
    yield rest
  }
  const { isSure, isDoubtful, hasByteOrderMark } = scan
  const file = {
    path,
    rejectedPath,
    encoding,
    isEncodingSure: isSure || (options.encoding ?? 'utf-8') !== 'utf-8',
    isEncodingDoubtful: isDoubtful && options.encoding === undefined,
    hasByteOrderMark,
    sheets: [],
    sheet: '',
    members: [],
    member: '',
    size,
    bytes,
  }
  const format = formatOfText(path, scan.beginning, encoding)
  if (format !== 'csv') {
    const make = format === 'ndjson' ? () => new JsonLines(path) : () => new JsonArray(path)
    const columns = new JsonColumns()
    async function* rows(): AsyncGenerator<SourceRow[]> {
      for await (const batch of rowsOf(make)) yield batch.map(({ line, json = '' }) => columns.read(line, json))
    }
    return {
      ...file,
      format,
      hasObjects: true,
      separator: '',
      ...plainCells,
      mayHaveMarks: false,
      header: columns.header,
      rows,
    }
  }
  const noticed: { separator: string; separatorLine: string; lineEnd: SourceFile['lineEnd'] } = {
    separator: ',',
    separatorLine: '',
    lineEnd: '\n',
  }
  const plain = () =>
    rowsOf(
      () => new CsvRows(path),
      ({ dialect, separatorLine = '' }) => {
        if (!dialect) return
        const { delimiter, lineEnd, hasCarriageReturns } = dialect
        Object.assign(noticed, { separator: delimiter, separatorLine, lineEnd: hasCarriageReturns ? '\r\n' : lineEnd })
      },
    )
  const first = options.header?.slice() ?? (await headerOf(path, plain()))
  if (options.header) for await (const _ of plain()) break
  const readers: Record<Escapes, () => AsyncGenerator<SourceRow[]>> = {
    quotes: plain,
    backslashes: () => rowsOf(() => new EscapedRows(path, { delimiter: noticed.separator, isEnclosed: false })),
    both: () => rowsOf(() => new EscapedRows(path, { delimiter: noticed.separator, isEnclosed: true })),
  }
  const [likely = 'quotes', ...others] = await possibleEscapes(scan, noticed.separator, readers)
  const escapes = options.escapes ?? likely
  const rows = readers[escapes]
  const header = escapes === 'quotes' || options.header ? first : await headerOf(path, rows())
  const table = { ...file, format, ...noticed, escapes, otherEscapes: options.escapes ? [] : others }
  const json = header.indexOf(rowOfRejection)
  if (json >= 0) {
    const columns = new JsonColumns()
    async function* objects(): AsyncGenerator<SourceRow[]> {
      for await (const batch of withoutHeader(rows()))
        yield batch.map(({ line, cells }) => columns.read(line, textOfCell(cellOfSpreadsheet(cells[json])) ?? ''))
    }
    return { ...table, hasObjects: true, mayHaveMarks: false, header: columns.header, rows: objects }
  }
  const mayHaveMarks = scan.hasApostrophes && !isOfRejectedRows(header)
  return {
    ...table,
    hasObjects: false,
    mayHaveMarks,
    header,
    rows: options.header ? rows : () => withoutHeader(rows(), isOfRejectedRows(header)),
  }
}

type RowReader = {
  push: (text: string) => SourceRow[]
  end: () => SourceRow[]
  count: number
  dialect?: Dialect | undefined
  separatorLine?: string
}

/**
 * The likely one comes first, and alone where there is no other. Some programs write quotes around cells beside `\N`, and of others they
 * are text; some double backslashes beside it.
 */
const possibleEscapes = async (
  { hasNullMark, hasNullMarks, hasQuotes }: FileScan,
  separator: string,
  readers: Record<Escapes, () => AsyncIterable<SourceRow[]>>,
): Promise<Escapes[]> => {
  if (separator === '\t' && hasNullMark)
    return hasQuotes && (await flawsOf(readers.quotes())) !== 'refused'
      ? ['quotes', 'backslashes', 'both']
      : ['backslashes']
  if (separator === '\t' || !hasNullMarks) return ['quotes']
  const backslashes = new Set<'of MySQL' | 'others'>()
  const flaws = await flawsOf(readers.quotes(), ({ cells }) => {
    for (const cell of cells)
      if (typeof cell === 'string' && cell.includes('\\') && cell !== '\\N')
        backslashes.add(areOfMysql(cell) ? 'of MySQL' : 'others')
  })
  if (flaws === 'none') return [...backslashes].join() === 'of MySQL' ? ['quotes', 'both'] : ['quotes']
  // A quote that a backslash protects ends a cell too early, or the file is damaged in every reading.
  if ((await flawsOf(readers.both())) !== 'none') return ['quotes']
  return flaws === 'refused' ? ['both', 'backslashes'] : ['quotes', 'both']
}

/** The first brace or bracket tells, unless the name says that each line is an object. */
const formatOfText = (path: string, beginning: Buffer, encoding: Encoding): 'csv' | 'ndjson' | 'json' => {
  const text = textReader(encoding).push(beginning).trimStart()
  if (/^\{\s*["}]/.test(text)) return 'ndjson'
  if (/^\[\s*[{\]]/.test(text)) return 'json'
  const named = formatOfName(path)
  return named === 'ndjson' || named === 'json' ? 'ndjson' : 'csv'
}

/** Refuses what is no text. */
const encodingOf = (
  path: string,
  { beginning, encoding: noticed }: FileScan,
  given: Encoding | undefined,
): Encoding => {
  const other = otherFormatOf(beginning)
  if (other) throw new Refusal(`${path} is ${other.name}: ${other.remedy}`)
  const encoding = given ?? noticed
  if (!encoding) throw new Refusal(`${path} is UTF-32, save it as UTF-8`)
  // Half of the bytes of UTF-16 and more are zeros.
  if (!encoding.startsWith('utf-16') && !isText(beginning))
    throw new Refusal(`${path} is not text, and no workbook: export the table as CSV or .xlsx`)
  return encoding
}

/** Whether some rows cannot be read, or the file as a whole. */
const flawsOf = async (
  batches: AsyncIterable<SourceRow[]>,
  onRow: (row: SourceRow) => void = () => {},
): Promise<'none' | 'rows' | 'refused'> => {
  let flaws: 'none' | 'rows' = 'none'
  try {
    for await (const rows of batches)
      for (const row of rows) {
        if (row.problem !== undefined) flaws = 'rows'
        onRow(row)
      }
    return flaws
  } catch (error) {
    if (error instanceof Refusal) return 'refused'
    throw error
  }
}

const headerOf = async (path: string, batches: AsyncGenerator<SourceRow[]>): Promise<string[]> => {
  for await (const [header] of batches) {
    if (header?.problem) throw new Refusal(`the header of ${path} cannot be read: ${header.problem}`)
    if (header) return header.cells.map((cell) => textOfCell(cell)?.trim() ?? '')
  }
  throw new Refusal(`${path} is empty: its first line must name the columns`)
}

async function* withoutHeader(batches: AsyncGenerator<SourceRow[]>, isEscaped = false): AsyncGenerator<SourceRow[]> {
  let isFirst = true
  for await (const rows of batches) {
    if (isFirst && rows.length > 0) {
      rows.shift()
      isFirst = false
    }
    if (isEscaped) for (const row of rows) row.cells = row.cells.map(cellOfSpreadsheet)
    yield rows
  }
}
