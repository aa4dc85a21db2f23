import { isProblem } from '@masthead/client'
import { useEffect, useRef, useState } from 'react'
import { type Draft, useDraft } from './draft.ts'
import { type Body, bodyOf, changedFields, type InputField, type InputValue, type InputValues } from './input-fields.ts'

export type Form = {
  fields: readonly InputField[]
  /** What the service has. */
  before: InputValues
  values: InputValues
  set: (name: string, value: InputValue) => void
  /** What is wrong, by the name of the field. */
  faults: Readonly<Record<string, string>>
  /** What went wrong beside it. */
  trouble: unknown
  /** Moves with every refusal, so that the focus can follow. */
  refusals: number
  isSending: boolean
  /** There is something to lose. */
  isChanged: boolean
  draft: Draft
  /** What the form was opened with when its draft began. */
  draftedSince: InputValues
  submit: () => void
  /** Puts these in the place of what was typed, and sends them as changes to `before`. */
  resubmit: (values: InputValues, before: InputValues) => void
}

type FormOptions = Pick<Form, 'fields' | 'before'> & {
  /** What tells its draft from those of other forms. */
  name: string
  /** What the form holds when it is opened, where that is something else. */
  opened?: InputValues
  /** Resolves with what leads away from the form when it has saved it, and with null where the form goes on. */
  send: (body: Body, values: InputValues, draftedSince: InputValues) => Promise<(() => void) | null>
}

type Refusal = { faults: Readonly<Record<string, string>>; trouble: unknown }
const noRefusal: Refusal = { faults: {}, trouble: undefined }

export const useForm = ({ name, fields, before, opened = before, send }: FormOptions): Form => {
  const { value: values, set: setValues, since: draftedSince, draft } = useDraft(name, opened)
  const [refusal, setRefusal] = useState(noRefusal)
  const [refusals, setRefusals] = useState(0)
  const [isSending, setSending] = useState(false)
  // Faster than a state: a second click comes before the button is drawn anew.
  const isInFlight = useRef(false)
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])

  const submit = async (now: InputValues, since: InputValues) => {
    if (isInFlight.current) return
    isInFlight.current = true
    setSending(true)
    setRefusal(noRefusal)
    try {
      const leave = await send(bodyOf(fields, since, now), now, draftedSince)
      if (leave) {
        // Who has left it meanwhile stays where they are, with what they have begun there.
        if (!isShown.current) return
        draft.forget()
        leave()
        // It is still shown until the next page is loaded: a second click must not send it again.
        return
      }
    } catch (error) {
      setRefusal(readRefusal(fields, error))
      setRefusals((count) => count + 1)
    }
    isInFlight.current = false
    setSending(false)
  }
  return {
    fields,
    before,
    values,
    set: (name, value) => {
      setValues((values) => ({ ...values, [name]: value }))
      setRefusal(({ faults: { [name]: _, ...faults }, trouble }) => ({ faults, trouble }))
    },
    ...refusal,
    refusals,
    isSending,
    isChanged: changedFields(fields, opened, values).length > 0,
    draft,
    draftedSince,
    submit: () => submit(values, before),
    resubmit: (now, since) => {
      setValues(now)
      submit(now, since)
    },
  }
}

/** What the service says of a place goes to its field, in the words of the form; all else stands above it. */
const readRefusal = (fields: readonly InputField[], error: unknown): Refusal => {
  if (!isProblem(error)) return { faults: {}, trouble: error }
  const placed = error.errors.flatMap((place) => {
    const field = 'pointer' in place && fields.find(({ name }) => place.pointer === `/${name}`)
    return field ? [[field.name, place.detail.replaceAll(`\`${field.name}\``, field.label)]] : []
  })
  const areAllPlaced = placed.length > 0 && placed.length === error.errors.length
  return { faults: Object.fromEntries(placed.reverse()), trouble: areAllPlaced ? undefined : error }
}
