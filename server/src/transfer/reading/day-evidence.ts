import type { Field } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { isCalendarDate, parseInstant } from '../../values.ts'
import { type Cell, TypedCell } from '../files/cell.ts'
import { type Decision, type Evidence, type FormatOptions, type Noticed, plainValue, wrong } from './column-format.ts'
import { type DateOrder, dateIn, hasShortYear, shapeName, type WrittenDate } from './date-texts.ts'
import { instantIn, instantOfEpoch, instantOfLocal, writtenInstant } from './instant-texts.ts'
import { type GivenValue, WrongCell } from './wrong-cell.ts'

const orders = ['dmy', 'mdy'] as const
const epochShape = /^-?\d{5,15}$/

/** Says how the dates or instants of a column are written. */
export class DayEvidence implements Evidence {
  readonly #field: Field
  readonly #heading: string
  #values = 0
  #plain = 0
  #readable = 0
  readonly #fits = { dmy: 0, mdy: 0 }
  /** The first value that both orders read, but as different days. */
  #doubtful: string | undefined
  /** Values that only one order reads. */
  readonly #only: { dmy?: string; mdy?: string } = {}
  readonly #shapes = new Map<WrittenDate['shape'], number>()
  #withoutZone: { count: number; first: string } = { count: 0, first: '' }
  #withZone = 0
  #numbers: { count: number; first: string; seconds: number; milliseconds: number } = {
    count: 0,
    first: '',
    seconds: 0,
    milliseconds: 0,
  }

  constructor(field: Field, heading: string) {
    this.#field = field
    this.#heading = heading
  }

  add(cell: Cell): void {
    if (cell === null || cell === undefined || cell === '') return
    this.#values++
    if (cell instanceof TypedCell) this.#addTyped(cell)
    else if (this.#isPlain(cell)) {
      this.#plain++
      this.#note('')
      for (const order of orders) this.#fits[order]++
      this.#readable++
      if (this.#isInstant) this.#withZone++
    } else if (epochShape.test(cell)) this.#addNumber(cell)
    else this.#addText(cell.trim())
  }

  get #isInstant(): boolean {
    return this.#field.kind === 'timestamp'
  }

  #isPlain(text: string): boolean {
    return this.#isInstant ? parseInstant(text) !== null : isCalendarDate(text)
  }

  #note(shape: WrittenDate['shape']): void {
    this.#shapes.set(shape, (this.#shapes.get(shape) ?? 0) + 1)
  }

  #addTyped({ kind, text }: TypedCell): void {
    if (kind === 'number') this.#addNumber(text)
    else if (kind === 'date' || kind === 'local time') {
      if (this.#isInstant) this.#addWithoutZone(text)
      else if (kind === 'date') this.#plain++
    }
  }

  #addNumber(text: string): void {
    if (this.#numbers.count++ === 0) this.#numbers.first = text
    for (const unit of ['seconds', 'milliseconds'] as const)
      if (isLikely(instantOfEpoch(text, unit), this.#isInstant)) this.#numbers[unit]++
  }

  #addWithoutZone(text: string): void {
    if (this.#withoutZone.count++ === 0) this.#withoutZone.first = text
  }

  #addText(text: string): void {
    const written = writtenInstant(text)
    if (!written || (!this.#isInstant && !isMidnight(written.time, written.zone))) return
    const [one, other] = orders.map((order) => dateIn(order, written.date))
    if (one === null && other === null) return
    this.#readable++
    this.#note(written.date.shape)
    if (one !== null) this.#fits.dmy++
    else this.#only.mdy ??= text
    if (other !== null) this.#fits.mdy++
    else this.#only.dmy ??= text
    if (one !== null && other !== null && one !== other) this.#doubtful ??= text
    if (!this.#isInstant) return
    if (written.zone === '') this.#addWithoutZone(text)
    else this.#withZone++
  }

  decide(options: FormatOptions): Decision {
    if (this.#plain === this.#values) return { read: null, noticed: null }
    const epoch = this.#epoch() ?? options.epoch ?? epochOfHeading(this.#heading)
    const order = this.#order(options)
    const doubt =
      (order === undefined ? this.#doubtOfOrder() : null) ??
      (this.#numbers.count > 0 && !epoch && this.#readable + this.#withoutZone.count === 0
        ? this.#doubtOfEpoch()
        : null) ??
      (this.#withoutZone.count > 0 && !options.timeZone ? this.#doubtOfZone() : null)
    if (doubt) return { read: null, noticed: doubt }
    return {
      read: this.#reader(order ?? 'dmy', options, epoch),
      noticed: this.#noticed(order ?? 'dmy', options, epoch),
    }
  }

  /** No number of seconds lies in the same years as one of milliseconds. */
  #epoch(): FormatOptions['epoch'] {
    const { count, seconds, milliseconds } = this.#numbers
    if (count === 0) return undefined
    if (seconds === count) return 'seconds'
    return milliseconds === count ? 'milliseconds' : undefined
  }

  /** Undefined while it is in doubt. */
  #order(options: FormatOptions): DateOrder | undefined {
    const surviving = orders.filter((order) => this.#fits[order] === this.#readable)
    if (surviving.length === 1) return surviving[0]
    return surviving.length === 2 && this.#doubtful === undefined ? 'dmy' : options.dates
  }

  #doubtOfOrder(): Noticed {
    const { dmy, mdy } = this.#only
    const choices = (text: string) =>
      orders.map((value) => ({ value, example: `${text} is ${this.#dayOf(value, text)}` }))
    if (this.#doubtful !== undefined)
      return this.#inDoubt(
        'dates',
        choices(this.#doubtful),
        `${shown(this.#doubtful)} can be two days`,
        'Say which number comes first: --dates dmy or --dates mdy',
      )
    return this.#inDoubt(
      'dates',
      choices(dmy ?? ''),
      `${shown(dmy ?? '')} has the day first and ${shown(mdy ?? '')} the month`,
      'Say which is right, and the others are refused: --dates dmy or --dates mdy',
    )
  }

  #dayOf(order: DateOrder, text: string): string {
    const written = writtenInstant(text)
    return (written && dateIn(order, written.date)) ?? 'no day'
  }

  #doubtOfEpoch(): Noticed {
    const { first } = this.#numbers
    const choices = (['seconds', 'milliseconds'] as const).map((value) => ({
      value,
      example: `${first} is ${instantOfEpoch(first, value) ?? 'no moment'}`,
    }))
    return this.#inDoubt(
      'epoch',
      choices,
      `${shown(first)} is a number`,
      'Say what it counts since 1970: --epoch seconds or --epoch milliseconds',
    )
  }

  #doubtOfZone(): Noticed {
    const { first } = this.#withoutZone
    return this.#inDoubt(
      'timeZone',
      [],
      `${shown(first)} has no time zone`,
      'Say where clocks showed it, such as --time-zone Europe/Berlin or --time-zone UTC',
    )
  }

  #inDoubt(option: Noticed['option'], choices: Noticed['choices'], text: string, remedy: string): Noticed {
    return { format: '', fits: 0, values: this.#values, option, choices, doubt: { text, remedy } }
  }

  #reader(order: DateOrder, { timeZone }: FormatOptions, epoch: FormatOptions['epoch']): (cell: Cell) => GivenValue {
    const field = this.#field
    const ofText = (text: string): GivenValue => {
      const written = writtenInstant(text)
      if (!written) return epoch && epochShape.test(text) ? ofEpoch(text) : this.#refused(text)
      if (!this.#isInstant) {
        const date = isMidnight(written.time, written.zone) ? dateIn(order, written.date) : null
        return date ?? this.#refused(text)
      }
      const instant = instantIn(order, written, timeZone)
      if (typeof instant === 'string') return instant
      return instant ? new WrongCell(text, `${shown(text)} ${instant.problem}`, instant.problem) : this.#refused(text)
    }
    const ofEpoch = (text: string): GivenValue => {
      const instant = epoch ? instantOfEpoch(text, epoch) : null
      if (instant === null) return this.#refused(text)
      if (this.#isInstant) return instant
      return instant.endsWith('T00:00:00.000Z') ? instant.slice(0, 10) : this.#refused(text)
    }
    return (cell) => {
      if (typeof cell === 'string') return cell === '' ? null : this.#isPlain(cell) ? cell : ofText(cell.trim())
      if (!(cell instanceof TypedCell)) return cell
      if (cell.kind === 'number') return ofEpoch(cell.text)
      if (!this.#isInstant || (cell.kind !== 'date' && cell.kind !== 'local time')) return plainValue(field, cell)
      const local = cell.kind === 'date' ? `${cell.text}T00:00:00.000` : cell.text
      const instant = timeZone ? instantOfLocal(local, timeZone) : null
      if (typeof instant === 'string') return instant
      return instant
        ? new WrongCell(cell.text, `${shown(cell.text)} ${instant.problem}`, instant.problem)
        : this.#refused(cell.text)
    }
  }

  #refused(text: string): WrongCell {
    if (!hasShortYear(text)) return wrong(this.#field, text)
    const rule = 'has a year of two digits, which could be of either century: write four'
    return new WrongCell(text, `${shown(text)} ${rule}`, rule)
  }

  #noticed(order: DateOrder, { timeZone }: FormatOptions, epoch: FormatOptions['epoch']): Noticed {
    const names = [...this.#shapes].sort(([, one], [, other]) => other - one).map(([shape]) => shapeName(order, shape))
    const days = [...new Set(names)].join(' or ')
    const parts: string[] = []
    if (days !== '') parts.push(this.#isInstant ? `${days} and time` : days)
    if (this.#numbers.count > 0 && epoch) parts.push(`${epoch} since 1970`)
    if (parts.length === 0 && this.#withoutZone.count > 0) parts.push('dates and times of the sheet')
    const zone = this.#withoutZone.count > 0 && timeZone ? `, clocks of ${timeZone.name}` : ''
    const typed = this.#isInstant ? this.#withoutZone.count + this.#withZone : this.#plain - (this.#shapes.get('') ?? 0)
    const fits = this.#isInstant ? typed : this.#fits[order] + Math.max(typed, 0)
    return {
      format: `${parts.join(' or ')}${zone}`,
      fits: Math.min(fits + (epoch ? this.#numbers.count : 0), this.#values),
      values: this.#values,
      option:
        this.#withoutZone.count > 0
          ? 'timeZone'
          : epoch && this.#numbers.count > 0
            ? 'epoch'
            : this.#doubtful === undefined
              ? ''
              : 'dates',
      choices: [],
      doubt: null,
    }
  }
}

/** Numbers such as 2024060112, which are dates written without signs, lie outside. */
const isLikely = (instant: string | null, isInstant: boolean): boolean => {
  if (instant === null || instant < '1980') return false
  if (!isInstant) return instant < '2100' && instant.endsWith('T00:00:00.000Z')
  return Date.parse(instant) < Date.now() + 86_400_000
}

const isMidnight = (time: string, zone: string): boolean => time === '00:00:00.000' && zone === ''

/** Whether a column says that it counts. */
const epochOfHeading = (heading: string): 'seconds' | 'milliseconds' | undefined => {
  if (/(milliseconds|millis|epoch_?ms|unix_?ms|(_|\b)ms)\)?$|epochmillis/i.test(heading)) return 'milliseconds'
  return /(epoch|unix|unix_?time|seconds|epoch_?s)\)?$|\bunix\b|^epoch/i.test(heading) ? 'seconds' : undefined
}
