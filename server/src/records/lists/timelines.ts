/** A version of a list, and the timeline in which it was written. The empty name is that of before timelines were kept. */
export type Point = { version: number; timeline: string }

export const beginning: Point = { version: 0, timeline: '' }

/** The head of a list, as far as points are compared with it: `timelines` are texts such as `120:9f3a61c4`, in their order, separated by spaces. */
export type ListHead = { version: number; timelines: string }

/** As one text: the version and the timelines. */
export const readHead = (text: string): ListHead => {
  const end = text.indexOf(' ')
  return { version: Number(text.slice(0, end)), timelines: text.slice(end + 1) }
}

/** The point of a version: the last timeline that began before it has written it. */
export const pointAt = ({ timelines }: ListHead, version: number): Point => {
  let timeline = ''
  for (const text of version === 0 || timelines === '' ? [] : timelines.split(' ')) {
    const [began, name = ''] = text.split(':')
    if (Number(began) >= version) break
    timeline = name
  }
  return { version, timeline }
}

/** Whether the database still has the writes up to this point, and not others in their place. */
export const isKept = (head: ListHead, { version, timeline }: Point): boolean =>
  version === 0 || (version <= head.version && pointAt(head, version).timeline === timeline)
