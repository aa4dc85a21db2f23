import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CorpusFile, givenTo, kindOf, type Locale, recordsOf } from '../corpus.ts'
import type { Value } from '../records.ts'
import { localTime } from './clock.ts'
import { type Made, run } from './command.ts'

/** How the spreadsheets of a locale show dates: the order, and what stands between. */
const orders: Record<Locale, readonly [order: readonly ('day' | 'month' | 'year')[], between: string]> = {
  'de-DE': [['day', 'month', 'year'], '.'],
  'fr-FR': [['day', 'month', 'year'], '/'],
  'en-US': [['month', 'day', 'year'], '/'],
  'es-ES': [['day', 'month', 'year'], '/'],
}

const isLocale = (name: string | undefined): name is Locale => name !== undefined && name in orders

const xmlText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A spreadsheet in the one-file form of OpenDocument, with cells of their own kinds. */
const openDocument = (file: CorpusFile, locale: Locale): string => {
  const [language, country] = locale.split('-')
  const where = `number:language="${language}" number:country="${country}"`
  const [order, between] = orders[locale]
  const part = { day: 'number:day', month: 'number:month', year: 'number:year' }
  const date = order.map((one) => `<${part[one]} number:style="long"/>`).join(`<number:text>${between}</number:text>`)
  const time = ['hours', 'minutes', 'seconds'].map((one) => `<number:${one} number:style="long"/>`)
  const amount =
    '<number:number number:decimal-places="2" number:min-decimal-places="2" number:min-integer-digits="1" number:grouping="true"/>'
  const currency = file.how?.currency
  const symbol = currency === undefined ? '' : `<number:currency-symbol ${where}>${currency}</number:currency-symbol>`
  const money =
    locale === 'en-US' ? `${symbol}${amount}` : `${amount}${symbol && `<number:text> </number:text>${symbol}`}`
  const cellStyle = (kind: string) =>
    `<style:style style:name="${kind}" style:family="table-cell" style:data-style-name="N-${kind}"/>`
  const headings = Object.keys(file.columns)
  const rows = recordsOf(file).map((record) =>
    headings.map((heading) => cell(file, kindOf(file, heading), givenTo(file, record, heading))).join(''),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles>
<number:date-style style:name="N-date" ${where}>${date}</number:date-style>
<number:date-style style:name="N-timestamp" ${where}>${date}<number:text> </number:text>${time.join('<number:text>:</number:text>')}</number:date-style>
<number:currency-style style:name="N-money" ${where}>${money}</number:currency-style>
<number:number-style style:name="N-integer" ${where}><number:number number:decimal-places="0" number:min-integer-digits="1" number:grouping="true"/></number:number-style>
<number:boolean-style style:name="N-boolean" ${where}><number:boolean/></number:boolean-style>
${['date', 'timestamp', 'money', 'integer', 'boolean'].map(cellStyle).join('\n')}
</office:automatic-styles>
<office:body><office:spreadsheet><table:table table:name="Tabelle1">
${[headings.map((heading) => cell(file, 'text', heading)).join(''), ...rows].map((row) => `<table:table-row>${row}</table:table-row>`).join('\n')}
</table:table></office:spreadsheet></office:body></office:document>`
}

const cell = (file: CorpusFile, kind: string, value: Value): string => {
  if (value === null || value === '') return '<table:table-cell/>'
  const typed = (type: string, attribute: string) =>
    `<table:table-cell table:style-name="${kind}" office:value-type="${type}" office:${attribute}/>`
  if (kind === 'date') return typed('date', `date-value="${value}"`)
  if (kind === 'timestamp') return typed('date', `date-value="${localTime(String(value), file.clock ?? 'UTC')}"`)
  if (kind === 'money' || kind === 'integer') return typed('float', `value="${value}"`)
  if (kind === 'boolean') return typed('boolean', `boolean-value="${value}"`)
  const paragraphs = String(value)
    .split('\n')
    .map((line) => `<text:p>${xmlText(line).replaceAll('\t', '<text:tab/>')}</text:p>`)
  return `<table:table-cell office:value-type="string">${paragraphs.join('')}</table:table-cell>`
}

/** The numbers by which LibreOffice knows encodings. */
const encodings = { 'windows-1252': '1', 'latin-1': '12', 'utf-8': '76' } as const

/** A profile of a user in that locale, as the settings dialog would leave it. */
const profileOf = (folder: string, locale: Locale): string => {
  const profile = join(folder, `profile-${locale}`)
  mkdirSync(join(profile, 'user'), { recursive: true })
  writeFileSync(
    join(profile, 'user', 'registrymodifications.xcu'),
    `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${locale}</value></prop></item>
</oor:items>`,
  )
  return profile
}

export const makeByLibreOffice = (file: CorpusFile, folder: string, to: string): Made => {
  const { how = {} } = file
  const { locale, separator = ',', firstLine, iconv } = how
  if (!isLocale(locale)) throw new Error(`${file.name} names no locale`)
  const source = join(folder, 'source.fods')
  writeFileSync(source, openDocument(file, locale))
  const isExcel = file.name.endsWith('.xlsx')
  const charset = encodings[file.encoding ?? 'utf-8']
  // Separator, quote, encoding, first line, formats, language, quote all texts, formats as shown.
  const csv = `csv:Text - txt - csv (StarCalc):${separator.charCodeAt(0)},34,${charset},1,,0,false,true`
  const format = isExcel ? 'xlsx:Calc MS Excel 2007 XML' : csv
  const env = { SAL_USE_VCLPLUGIN: 'svp' }
  const profile = `-env:UserInstallation=file://${profileOf(folder, locale)}`
  run('soffice', [profile, '--headless', '--convert-to', format, '--outdir', folder, source], { env })
  const made = join(folder, isExcel ? 'source.xlsx' : 'source.csv')
  const command = [`soffice (${locale}) --headless --convert-to '${format}'`]
  if (firstLine !== undefined) {
    writeFileSync(to, Buffer.concat([Buffer.from(`${firstLine}\r\n`), readFileSync(made)]))
    command.push(`after a line ${firstLine}`)
  } else if (iconv !== undefined) {
    // Excel writes a byte order mark, and CRLF after each row, but not within a cell.
    const rows = readFileSync(made, 'utf8').replaceAll(/"[^"]*"|\n/g, (part) => (part === '\n' ? '\r\n' : part))
    const text = `\uFEFF${rows}`
    writeFileSync(join(folder, 'source.utf8'), text)
    run('iconv', ['-f', 'UTF-8', '-t', iconv, '-o', to, join(folder, 'source.utf8')])
    command.push(`with CRLF | iconv -t ${iconv}`)
  } else copyFileSync(made, to)
  const version = run('soffice', ['--version']).trim()
  return { program: 'LibreOffice', version, command: command.join(' | ') }
}
