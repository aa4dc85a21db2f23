import { useState } from 'react'
import type { AnyRecord } from '../records/kinds.ts'

/** The records of a page that were chosen, by their `id`. */
export type Selection = { chosen: ReadonlySet<string>; onChoose: (chosen: ReadonlySet<string>) => void }

/** Nothing stays chosen on another page: what one does not see, one does not change. */
export const useSelection = (page: unknown): Selection => {
  const [{ of, chosen }, set] = useState<{ of: unknown; chosen: ReadonlySet<string> }>({ of: page, chosen: new Set() })
  return {
    chosen: of === page ? chosen : nobody,
    onChoose: (next) => set({ of: page, chosen: next }),
  }
}

const nobody: ReadonlySet<string> = new Set()

export const ChooseAll = ({ records, chosen, onChoose }: Selection & { records: readonly AnyRecord[] }) => {
  const areAll = records.length > 0 && records.every(({ id }) => chosen.has(id))
  return (
    <th scope="col" className="choose">
      <input
        type="checkbox"
        aria-label="Choose all on this page"
        checked={areAll}
        ref={(box) => {
          if (box) box.indeterminate = chosen.size > 0 && !areAll
        }}
        onChange={() => onChoose(new Set(areAll ? [] : records.map(({ id }) => id)))}
      />
    </th>
  )
}

export const ChooseRow = ({
  record: { id },
  title,
  chosen,
  onChoose,
}: Selection & { record: AnyRecord; title: string }) => (
  <td className="choose">
    <input
      type="checkbox"
      aria-label={`Choose ${title}`}
      checked={chosen.has(id)}
      onChange={({ target }) => {
        const others = [...chosen].filter((one) => one !== id)
        onChoose(new Set(target.checked ? [...others, id] : others))
      }}
    />
  </td>
)
