import { type ResourceName, resourceNames } from '@masthead/contract'
import { Select } from '../design/select.tsx'
import { formatNumber } from '../records/formats.ts'
import type { Decisions } from './decisions.ts'
import type { Inspection, Options } from './runs.ts'

const encodings = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 (little endian)',
  'utf-16be': 'UTF-16 (big endian)',
  'windows-1252': 'Windows-1252',
  latin1: 'Latin-1',
} as const

type Encoding = keyof typeof encodings

const isEncoding = (text: string): text is Encoding => text in encodings
const isResource = (text: string): text is ResourceName => resourceNames.some((name) => name === text)

export const resourceLabel = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const noticedBy = {
  '': 'Nobody can tell by the columns: choose.',
  given: undefined,
  name: 'Noticed by the name of the file.',
  columns: 'Noticed by the columns.',
} as const

type ReadingProps = { inspection: Inspection; decisions: Decisions }

/** What the file is and holds, as it was noticed and as it can be changed. */
export const Reading = ({ inspection, decisions }: ReadingProps) => {
  const { sheets, sheet, members, member, encoding, resourceNoticed, notes, rows, isRemembered } = inspection
  const { options, resource, decide, decideResource, forget } = decisions
  return (
    <section className="card form-section" aria-labelledby="import-reading">
      <h2 id="import-reading">File</h2>
      <ul className="notes">
        <li>
          {formatNumber(rows)} {rows === 1 ? 'row' : 'rows'}
        </li>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
        {isRemembered && Object.keys(options).length > 0 && (
          <li>
            Columns and formats are as you chose for the last file with the same header.{' '}
            <button type="button" className="link-button" onClick={forget}>
              Forget that for this file
            </button>
          </li>
        )}
      </ul>
      <div className="form-grid">
        <Select
          label="What it holds"
          help={noticedBy[resourceNoticed]}
          value={resource ?? ''}
          onChange={(value) => isResource(value) && decideResource(value)}
          options={[
            ...(resource === undefined ? [['', 'Choose …'] as const] : []),
            ...resourceNames.map((name) => [name, resourceLabel(name)] as const),
          ]}
        />
        {members.length > 1 && (
          <Select
            label="File of the archive"
            value={options.member ?? member}
            onChange={(value) =>
              decide({ member: value, sheet: undefined, columns: undefined, translations: undefined })
            }
            options={members.map((name) => [name, name])}
          />
        )}
        {sheets.length > 1 && (
          <Select
            label="Sheet"
            help={resource === undefined ? 'It may be another sheet.' : undefined}
            value={options.sheet ?? sheet}
            onChange={(value) => decide({ sheet: value, columns: undefined, translations: undefined })}
            options={sheets.map((name) => [name, name])}
          />
        )}
        {hasApostrophes(inspection, options) && (
          <Select
            label="Apostrophes in front of texts"
            help="An export for spreadsheets marks texts that look like formulas."
            value={options.isForSpreadsheet === undefined ? '' : String(options.isForSpreadsheet)}
            onChange={(value) => decide({ isForSpreadsheet: value === '' ? undefined : value === 'true' })}
            options={[
              ['', 'As noticed'],
              ['true', 'Are marks, and are left out'],
              ['false', 'Are part of the text'],
            ]}
          />
        )}
        {isEncoding(encoding) && (
          <Select
            label="Encoding"
            help="If umlauts and accents look wrong below, it is another."
            value={options.encoding ?? encoding}
            onChange={(value) => isEncoding(value) && decide({ encoding: value })}
            options={Object.entries(encodings)}
          />
        )}
      </div>
    </section>
  )
}

const hasApostrophes = ({ notes, problems }: Inspection, { isForSpreadsheet }: Options): boolean =>
  isForSpreadsheet !== undefined || [...notes, ...problems].some((text) => text.includes('apostrophe'))
