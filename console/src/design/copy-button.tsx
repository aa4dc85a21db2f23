import { useState } from 'react'
import { CheckIcon, CopyIcon } from './icons.tsx'

export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <button type="button" className="button quiet square" onClick={copy} aria-label={label} title={label}>
      {isCopied ? <CheckIcon /> : <CopyIcon />}
      <output className="visually-hidden">{isCopied ? 'Copied' : ''}</output>
    </button>
  )
}
