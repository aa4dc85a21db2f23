import type { ListedName } from '@masthead/contract'
import { useId, useState } from 'react'
import { Link, type Parameters } from '../address.tsx'
import { CloseIcon, ViewIcon } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import { firstPage } from '../records/filters.ts'
import { kinds } from '../records/kinds.ts'
import { useStored } from '../stored.ts'

type View = { name: string; parameters: Record<string, string> }

const longestName = 60

/** Filters, columns and the order of a list under a name. They are kept in the browser, for who uses it. */
export const Views = ({ name, parameters }: { name: ListedName; parameters: Parameters }) => {
  const [views, setViews] = useStored(`views.${name}`, readViews)
  const here = partsOf({ ...parameters, ...firstPage })
  const current = views.find((view) => isSame(view.parameters, here))
  return (
    <Menu
      button={
        <>
          <ViewIcon />
          {/* Long names must not push the other buttons away. */}
          {current ? <span className="view-name">{current.name}</span> : 'Views'}
        </>
      }
    >
      {(close) => (
        <div className="views">
          {views.length === 0 && <p className="menu-item plain muted">No views yet</p>}
          <ul>
            {views.map((view) => (
              <li key={view.name} className="view">
                <Link
                  to={kinds[name].list}
                  parameters={view.parameters}
                  className="menu-item"
                  {...(view === current && { 'aria-current': 'page' })}
                  onClick={close}
                >
                  <span className="grow">{view.name}</span>
                </Link>
                <button
                  type="button"
                  className="button quiet square"
                  aria-label={`Delete the view ${view.name}`}
                  onClick={() => setViews(views.filter((one) => one !== view))}
                >
                  <CloseIcon />
                </button>
              </li>
            ))}
          </ul>
          <hr />
          <SaveView
            taken={views.map((view) => view.name)}
            onSave={(title) => {
              setViews([...views.filter((view) => view.name !== title), { name: title, parameters: here }])
              close()
            }}
          />
        </div>
      )}
    </Menu>
  )
}

const SaveView = ({ taken, onSave }: { taken: readonly string[]; onSave: (name: string) => void }) => {
  const [name, setName] = useState('')
  const id = useId()
  const title = name.trim()
  return (
    <form
      className="save-view"
      onSubmit={(event) => {
        event.preventDefault()
        if (title !== '') onSave(title)
      }}
    >
      <label htmlFor={id}>Save what you see as</label>
      <div className="with-button">
        <input
          id={id}
          className="input"
          autoComplete="off"
          maxLength={longestName}
          aria-describedby={`${id}-told`}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <button type="submit" className="button" aria-disabled={title === ''}>
          {taken.includes(title) ? 'Replace' : 'Save'}
        </button>
      </div>
      <p id={`${id}-told`} className="muted small">
        Kept in this browser, for you and this organisation only. Send the address of the page to share it.
      </p>
    </form>
  )
}

const partsOf = (parameters: Parameters): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : [])))

const isSame = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value)

const readViews = (kept: unknown): readonly View[] => (Array.isArray(kept) ? kept.filter(isView) : [])

const isView = (kept: unknown): kept is View =>
  typeof kept === 'object' &&
  kept !== null &&
  'name' in kept &&
  typeof kept.name === 'string' &&
  'parameters' in kept &&
  typeof kept.parameters === 'object' &&
  kept.parameters !== null &&
  Object.values(kept.parameters).every((value) => typeof value === 'string')
