import { basePath } from '@masthead/contract'
import { useState } from 'react'
import { CopyButton } from '../design/copy-button.tsx'
import { Segments } from '../design/segments.tsx'
import { Trouble } from '../design/states.tsx'
import { Code } from './code.tsx'
import { type ExampleName, examples, type Language, languages, type Example as Shown } from './examples.ts'
import { AnswerText, type Exchange, send } from './exchange.tsx'
import { useReader } from './reader.tsx'

const choices = Object.entries(languages) as [Language, string][] // languages are its keys

/** Code to copy, in the language that the reader chose, with their token; what only reads can be run here. */
export const Example = ({ name, title }: { name: ExampleName; title: string }) => {
  const { place, token, language, chooseLanguage } = useReader()
  const { code, get }: Shown = examples[name]
  const text = code[language](place)
  return (
    <figure className="card example" aria-label={title}>
      <figcaption className="example-head">
        <strong>{title}</strong>
        <Segments legend="Language" options={choices} value={language} onChange={chooseLanguage} />
        <CopyButton text={text} label={`Copy: ${title}`} />
      </figcaption>
      <Code text={text} label={`${title}, ${languages[language]}`} />
      {get && token && <Run url={place.baseUrl + basePath + get(place)} token={token.token} title={title} />}
    </figure>
  )
}

const Run = ({ url, token, title }: { url: string; token: string; title: string }) => {
  const [exchange, setExchange] = useState<Exchange | null>(null)
  const [trouble, setTrouble] = useState<unknown>()
  const run = () => {
    setTrouble(undefined)
    send({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } }).then(setExchange, setTrouble)
  }
  return (
    <div className="run">
      <button type="button" className="button" onClick={run} aria-label={`Run: ${title}`}>
        Run
      </button>
      {trouble !== undefined && <Trouble error={trouble} onRetry={run} />}
      {exchange && <AnswerText answer={exchange.answer} to={title} />}
    </div>
  )
}
