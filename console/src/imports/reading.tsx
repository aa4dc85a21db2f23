import { type ResourceName, resourceNames } from '@masthead/contract'
import { formatNumber } from '../design/formats.ts'
import { Select } from '../design/select.tsx'
import { capitalised } from '../records/kinds.ts'
import { type Decisions, withoutChoices } from './decisions.ts'
import type { Inspection } from './runs.ts'

const encodings = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 (little endian)',
  'utf-16be': 'UTF-16 (big endian)',
  'windows-1252': 'Windows-1252',
  latin1: 'Latin-1',
} as const

type Encoding = keyof typeof encodings

const escapesMeant = {
  quotes: 'Quotes enclose cells, backslashes are text',
  backslashes: 'Backslashes are escapes, quotes are text',
  both: 'Quotes enclose cells, backslashes are escapes',
} as const

type Escapes = keyof typeof escapesMeant

const isEscapes = (text: string): text is Escapes => text in escapesMeant
const isEncoding = (text: string): text is Encoding => text in encodings
const isResource = (text: string): text is ResourceName => resourceNames.some((name) => name === text)

const noticedBy = {
  '': 'Nobody can tell by the columns: choose.',
  given: undefined,
  name: 'Noticed by the name of the file.',
  columns: 'Noticed by the columns.',
} as const

type ReadingProps = { inspection: Inspection; decisions: Decisions }

/** What the file is and holds, as it was noticed and as it can be changed. */
export const Reading = ({ inspection, decisions }: ReadingProps) => {
  const { sheets, sheet, member, encoding, escapes, resourceNoticed, notes, rows, isRemembered, apostrophes } =
    inspection
  const { options, resource, decide, decideResource, forget } = decisions
  const better = resource && betterFit(inspection, resource)
  return (
    <section className="card form-section" aria-labelledby="import-reading">
      <h2 id="import-reading">{decisions.member === '' ? 'File' : member}</h2>
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
          error={better === undefined ? undefined : `Its columns look like ${better}.`}
          value={resource ?? ''}
          onChange={(value) => isResource(value) && decideResource(value)}
          options={[
            ...(resource === undefined ? [['', 'Choose …'] as const] : []),
            ...resourceNames.map((name) => [name, capitalised(name)] as const),
          ]}
        />
        {sheets.length > 1 && (
          <Select
            label="Sheet"
            help={resource === undefined ? 'It may be another sheet.' : undefined}
            value={options.sheet ?? sheet}
            onChange={(value) => decide(withoutChoices({ sheet: value }))}
            options={sheets.map((name) => [name, name])}
          />
        )}
        {(apostrophes !== 'none' || options.isForSpreadsheet !== undefined) && (
          <Select
            label="Apostrophes in front of texts"
            error={apostrophes === 'in doubt' ? 'The texts leave it open: choose.' : undefined}
            help="An export for spreadsheets marks texts that look like formulas."
            value={options.isForSpreadsheet === undefined ? '' : String(options.isForSpreadsheet)}
            onChange={(value) => decide({ isForSpreadsheet: value === '' ? undefined : value === 'true' })}
            options={[
              ['', apostrophes === 'in doubt' ? 'Choose …' : 'As noticed'],
              ['true', 'Are marks, and are left out'],
              ['false', 'Are part of the text'],
            ]}
          />
        )}
        {((escapes !== '' && escapes !== 'quotes') || options.escapes !== undefined) && (
          <Select
            label="Quotes and backslashes"
            error={escapes === 'in doubt' ? 'The file leaves it open: choose.' : undefined}
            help="MySQL writes backslashes as escapes, and quotes around cells if it was told so."
            value={options.escapes ?? ''}
            onChange={(value) => decide({ escapes: isEscapes(value) ? value : undefined })}
            options={[['', escapes === 'in doubt' ? 'Choose …' : 'As noticed'], ...Object.entries(escapesMeant)]}
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

/** Who takes invoices for contacts is told so, before all columns are chosen by hand. */
const betterFit = ({ candidates }: Inspection, resource: ResourceName): ResourceName | undefined => {
  const [best] = candidates
  const matched = candidates.find((candidate) => candidate.resource === resource)?.matched ?? 0
  return best && best.resource !== resource && best.matched > matched + 2 ? best.resource : undefined
}
