import { useState } from 'react'
import { DarkIcon, LightIcon, SystemIcon } from './icons.tsx'

const themes = {
  system: { label: 'As the system', Icon: SystemIcon },
  light: { label: 'Light', Icon: LightIcon },
  dark: { label: 'Dark', Icon: DarkIcon },
} as const
type Theme = keyof typeof themes

const key = 'masthead.theme'
const isTheme = (text: string | null): text is Theme => text !== null && Object.hasOwn(themes, text)

const storedTheme = (): Theme => {
  const stored = localStorage.getItem(key)
  return isTheme(stored) ? stored : 'system'
}

export const applyTheme = (theme: Theme = storedTheme()): void => {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export const ThemeSwitch = () => {
  const [theme, setTheme] = useState(storedTheme)
  const choose = (chosen: Theme) => {
    localStorage.setItem(key, chosen)
    applyTheme(chosen)
    setTheme(chosen)
  }
  return (
    <fieldset className="segmented bare">
      <legend className="visually-hidden">Theme</legend>
      {Object.entries(themes).map(([name, { label, Icon }]) => (
        <label key={name} title={label}>
          <input
            type="radio"
            name="theme"
            checked={theme === name}
            onChange={() => isTheme(name) && choose(name)}
            aria-label={label}
          />
          <Icon />
        </label>
      ))}
    </fieldset>
  )
}
