import { type ReactNode, useState } from 'react'
import { saveFile } from '../design/save-file.ts'
import { Trouble } from '../design/states.tsx'

type SaveButtonProps = {
  /** What the service answers: the name of a file, and its bytes in base64. */
  load: () => Promise<{ fileName: string; content: string }>
  children: ReactNode
}

/** Saves a file that the service makes, byte by byte as it came. */
export const SaveButton = ({ load, children }: SaveButtonProps) => {
  const [trouble, setTrouble] = useState<unknown>()
  const save = async () => {
    setTrouble(undefined)
    try {
      const { fileName, content } = await load()
      const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
      saveFile(new Blob([bytes]), fileName)
    } catch (reason) {
      setTrouble(reason)
    }
  }
  return (
    <>
      <button type="button" className="button" onClick={save}>
        {children}
      </button>
      {trouble !== undefined && <Trouble error={trouble} />}
    </>
  )
}
