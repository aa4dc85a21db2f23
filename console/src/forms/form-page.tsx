import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import { PageHead } from '../design/page-head.tsx'
import { Trouble } from '../design/states.tsx'
import { DraftNote } from './draft-note.tsx'
import { Input } from './input.tsx'
import { type InputField, saysMore } from './input-fields.ts'
import { LeaveGuard } from './leave-guard.tsx'
import type { Form } from './use-form.ts'

/** Fields that belong together. Those that none names stand in the last one. */
export type Section = { heading: string; names: readonly string[] }

type FormPageProps = {
  title: string
  form: Form
  sections: readonly Section[]
  /** What the button says. */
  submit: string
  crumbs: ReactNode
  /** The way out. */
  cancel: ReactNode
  /** What is to be said of a draft that was restored. */
  ofDraft?: ReactNode
}

export const FormPage = ({ title, form, sections, submit, crumbs, cancel, ofDraft }: FormPageProps) => {
  const element = useRef<HTMLFormElement>(null)
  const { refusals } = form
  useEffect(() => {
    if (refusals === 0) return
    element.current?.querySelector<HTMLElement>('[aria-invalid="true"], .form-trouble')?.focus()
  }, [refusals])
  const send = (event: FormEvent) => {
    event.preventDefault()
    form.submit()
  }
  return (
    <div className="page">
      <PageHead title={title} crumbs={crumbs} />
      <DraftNote draft={form.draft}>{ofDraft}</DraftNote>
      {/* The service checks, and says what is wrong in better words than a browser. */}
      <form ref={element} className="form" noValidate onSubmit={send} aria-busy={form.isSending}>
        {form.trouble !== undefined && (
          <div className="form-trouble" tabIndex={-1}>
            <Trouble error={form.trouble} />
          </div>
        )}
        {divide(form.fields, sections).map(({ heading, fields }) => (
          // What is discarded is also what a field holds that was typed and not chosen.
          <section key={`${heading} ${form.draft.isRestored}`} className="card form-section">
            <h2>{heading}</h2>
            <div className="form-grid">
              {fields.map((field) => (
                <Input
                  key={field.name}
                  form={form}
                  field={field}
                  help={saysMore(field.help, field.label, heading, title) ? field.help : undefined}
                />
              ))}
            </div>
          </section>
        ))}
        <div className="form-actions">
          <button type="submit" className="button primary" aria-disabled={form.isSending}>
            {submit}
          </button>
          {cancel}
          <output className="muted">{form.isSending ? 'Sending …' : ''}</output>
        </div>
      </form>
      <LeaveGuard form={form} />
    </div>
  )
}

const divide = (fields: readonly InputField[], sections: readonly Section[]) => {
  const named = sections.flatMap(({ names }) => names)
  const others = fields.filter(({ name }) => !named.includes(name))
  return sections.map(({ heading, names }, index) => ({
    heading,
    fields: [
      ...names.flatMap((name) => fields.find((field) => field.name === name) ?? []),
      ...(index === sections.length - 1 ? others : []),
    ],
  }))
}
