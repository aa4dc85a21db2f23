import { customerApi, problems } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { loadPatiently } from '../connection.ts'
import { Combobox } from '../design/combobox.tsx'
import { useKeys } from '../design/keys.tsx'
import { anchorOf } from './document.tsx'
import { referenceAnchorOf } from './reference.tsx'

const most = 8

type Found = { to: string; hash: string; label: string; detail: string; text: string }

const operations: readonly Found[] = customerApi.operations.map(
  ({ operation: { method, path, summary }, resource }) => ({
    to: '/docs/reference',
    hash: referenceAnchorOf(resource.name, method, path),
    label: summary,
    detail: `${method} ${path}`,
    text: '',
  }),
)

const codes: readonly Found[] = Object.entries(problems).map(([code, { title, cause }]) => ({
  to: '/docs/guides/errors',
  hash: code,
  label: title,
  detail: `Problem ${code}`,
  text: cause,
}))

const loadGuides = async (): Promise<Found[]> => {
  const { sections } = await loadPatiently(() => import('virtual:docs-index'))
  return sections.map(({ to, page, section, text }) => ({
    to,
    text,
    label: section || page,
    detail: section ? page : 'Page',
    hash: section && anchorOf(section),
  }))
}

/** Finds guides by their words, operations and problems. What is called so comes before what speaks of it. */
export const SearchBox = () => {
  const navigate = useNavigate()
  const place = useRef<HTMLDivElement>(null)
  const [typed, setTyped] = useState('')
  const { data: guides = [] } = useQuery({
    queryKey: ['docs', 'index'],
    queryFn: loadGuides,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: typed !== '',
  })
  useKeys({ '/': () => place.current?.querySelector('input')?.focus() })
  const found = search([...guides, ...operations, ...codes], typed)
  return (
    <div className="portal-search" ref={place}>
      <Combobox
        label="Search"
        text={typed}
        onText={setTyped}
        options={found.map(({ to, hash, label, detail }) => ({ value: `${to}#${hash}`, label, detail }))}
        onChoose={({ value }) => {
          const [to = '', hash = ''] = value.split('#')
          setTyped('')
          navigate({ to, hash })
        }}
        status={statusOf(typed, found.length)}
      />
    </div>
  )
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []

const search = (all: readonly Found[], typed: string): Found[] => {
  const words = wordsOf(typed)
  if (words.length === 0) return []
  const ranked = all.flatMap((one) => {
    const name = `${one.label} ${one.detail}`.toLowerCase()
    const text = `${name} ${one.text.toLowerCase()}`
    if (!words.every((word) => text.includes(word))) return []
    return [{ one, rank: words.filter((word) => name.includes(word)).length }]
  })
  return ranked
    .sort((one, other) => other.rank - one.rank)
    .slice(0, most)
    .map(({ one }) => one)
}

const statusOf = (typed: string, count: number): string => {
  if (wordsOf(typed).length === 0) return ''
  if (count === 0) return 'Nothing matches'
  return count === 1 ? 'One result' : `${count} results`
}
