import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useReader } from './reader.tsx'
import { TokenCard } from './token-card.tsx'

const frame = '/docs/reference/frame'

/** Where the reference shows an operation. */
export const referenceAnchorOf = (resource: string, method: string, path: string): string =>
  `tag/${resource}/${method}${path}`

/**
 * Every operation, to be tried with the token that the reader has made. The library that draws it writes styles into its page,
 * which the policy of this one forbids, so it has a page of its own.
 */
export const Page = () => {
  const { token } = useReader()
  const element = useRef<HTMLIFrameElement>(null)
  const hash = useRouterState({ select: ({ location }) => location.hash })
  const [isReady, setReady] = useState(false)
  const [opened] = useState(hash)
  useEffect(() => {
    const hear = ({ origin, source, data }: MessageEvent<{ isReady?: true; hash?: string }>) => {
      if (origin !== location.origin || source !== element.current?.contentWindow) return
      if (data.isReady) setReady(true)
      // So that the address can be passed on. It is none to go back to: the frame has its own.
      if (data.hash !== undefined) history.replaceState(history.state, '', data.hash || location.pathname)
    }
    addEventListener('message', hear)
    return () => removeEventListener('message', hear)
  }, [])
  const secret = token?.token ?? null
  useEffect(() => {
    if (isReady) element.current?.contentWindow?.postMessage({ token: secret }, location.origin)
  }, [isReady, secret])
  useEffect(() => {
    const shown = element.current?.contentWindow
    if (isReady && shown && hash && shown.location.hash !== `#${hash}`) shown.location.hash = hash
  }, [isReady, hash])
  return (
    <div className="page reference">
      <title>Reference · Masthead</title>
      <h1 className="visually-hidden">Reference</h1>
      <TokenCard />
      <iframe ref={element} src={opened ? `${frame}#${opened}` : frame} title="Reference of the API" />
    </div>
  )
}
