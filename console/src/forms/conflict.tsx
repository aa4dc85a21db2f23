import { type FormEvent, useEffect, useRef, useState } from 'react'
import { formatInstant } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { type AnyRecord, isDeleted } from '../records/kinds.ts'
import { type InputField, type InputValue, type InputValues, valuesOf } from './input-fields.ts'

type Side = 'yours' | 'theirs'
type Choices = Readonly<Record<string, Side | undefined>>

type ConflictProps = {
  title: string
  /** What a record of its kind is called. */
  singular: string
  fields: readonly InputField[]
  /** As it was when the form was opened. */
  was: object
  yours: InputValues
  theirs: AnyRecord
  onChoose: (values: InputValues) => void
  onBack: () => void
}

/** Both versions of what two people changed at once, to choose from. */
export const Conflict = ({ title, singular, fields, was, yours, theirs, onChoose, onBack }: ConflictProps) => {
  const { updatedAt } = theirs
  const isGone = isDeleted(theirs)
  const [before, after] = [valuesOf(fields, was), valuesOf(fields, theirs)]
  const different = fields.filter(
    ({ name }) => !isAlike(yours[name], before[name]) || !isAlike(after[name], before[name]),
  )
  const [choices, setChoices] = useState<Choices>(() =>
    Object.fromEntries(different.map(({ name }) => [name, changedBy(before[name], yours[name], after[name])])),
  )
  const [isIncomplete, setIncomplete] = useState(false)
  const notice = useRef<HTMLDivElement>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => notice.current?.focus(), [])
  useEffect(() => {
    if (isIncomplete) form.current?.querySelector<HTMLElement>('.choice:not(:has(:checked)) input')?.focus()
  }, [isIncomplete])
  const chooseAll = (side: Side) => setChoices(Object.fromEntries(different.map(({ name }) => [name, side])))
  const save = (event: FormEvent) => {
    event.preventDefault()
    const isComplete = different.every(({ name }) => choices[name])
    setIncomplete(!isComplete)
    if (isComplete) onChoose(merge(after, yours, choices))
  }
  return (
    <div className="page">
      <PageHead title={`${title} was changed by somebody else`} />
      <div className="notice caution" ref={notice} tabIndex={-1} role="alert">
        <p>
          While you were editing, somebody else {isGone ? 'deleted' : 'changed'} this {singular}
          {typeof updatedAt === 'string' && ` (${formatInstant(updatedAt)})`}. Nothing of yours is saved yet: choose
          what is right.{isGone && ` Saving restores the ${singular}.`}
        </p>
      </div>
      <form ref={form} className="form" noValidate onSubmit={save}>
        <div className="with-buttons">
          <button type="button" className="button" onClick={() => chooseAll('yours')}>
            Take all of mine
          </button>
          <button type="button" className="button" onClick={() => chooseAll('theirs')}>
            Take all of theirs
          </button>
        </div>
        <div className="card">
          {different.map((field) => (
            <Choice
              key={field.name}
              field={field}
              versions={{ was: before[field.name], yours: yours[field.name], theirs: after[field.name] }}
              chosen={choices[field.name]}
              isMissed={isIncomplete && !choices[field.name]}
              onChoose={(side) => setChoices({ ...choices, [field.name]: side })}
            />
          ))}
        </div>
        <div className="form-actions">
          <button type="submit" className="button primary">
            {isGone ? 'Restore, and save what is chosen' : 'Save what is chosen'}
          </button>
          <button type="button" className="button" onClick={onBack}>
            Back to the form
          </button>
        </div>
      </form>
    </div>
  )
}

/** What only one of the two changed is theirs to say. */
const changedBy = (was?: InputValue, yours?: InputValue, theirs?: InputValue): Side | undefined => {
  if (isAlike(yours, was) || isAlike(yours, theirs)) return 'theirs'
  return isAlike(theirs, was) ? 'yours' : undefined
}

/** Nobody said, and no, mean the same. */
const isAlike = (one: InputValue = null, other: InputValue = null): boolean => (one ?? false) === (other ?? false)

const merge = (after: InputValues, yours: InputValues, choices: Choices): InputValues => ({
  ...after,
  ...Object.fromEntries(Object.entries(yours).filter(([name]) => choices[name] === 'yours')),
})

type ChoiceProps = {
  field: InputField
  versions: { was?: InputValue | undefined; yours?: InputValue | undefined; theirs?: InputValue | undefined }
  chosen: Side | undefined
  isMissed: boolean
  onChoose: (side: Side) => void
}

const Choice = ({ field: { name, label }, versions, chosen, isMissed, onChoose }: ChoiceProps) => (
  <fieldset className="choice">
    <legend>{label}</legend>
    <div className="version">
      <span className="whose">It was</span>
      <Version value={versions.was} />
    </div>
    {(['yours', 'theirs'] as const).map((side) => (
      <label key={side} className="version">
        <span className="whose">
          <input type="radio" name={name} checked={chosen === side} onChange={() => onChoose(side)} />
          {side === 'yours' ? 'Yours' : 'Theirs'}
        </span>
        <Version value={versions[side]} />
      </label>
    ))}
    {isMissed && <p className="field-error">You both changed it: choose one.</p>}
  </fieldset>
)

const Version = ({ value = '' }: { value?: InputValue | undefined }) => {
  if (value === '') return <span className="muted">nothing</span>
  if (typeof value === 'string') return <span>{value}</span>
  return <span>{value ? 'Yes' : 'No'}</span>
}
