import { createElement, Fragment } from 'react'

/** A text of the contract, in which code stands between backticks. */
export const Prose = ({ text }: { text: string }) => {
  const pieces = text.split('`')
  return createElement(Fragment, null, ...pieces.map((piece, index) => (index % 2 === 0 ? piece : codeOf(piece))))
}

const codeOf = (text: string) => <code>{text}</code>
