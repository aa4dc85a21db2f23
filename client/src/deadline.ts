import { TimeoutError } from './errors.ts'

/** What timers can hold; longer ones would end at once. */
const longestMilliseconds = 2_147_483_647

/** Ends by the caller's signal or when the time is over, whichever comes first. To be released when the work is done. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #endsAt: number
  readonly #release: () => void

  constructor(milliseconds: number, given: AbortSignal | undefined) {
    const lasting = Math.min(milliseconds, longestMilliseconds)
    const follow = () => this.#controller.abort(given?.reason)
    const timer = setTimeout(() => {
      this.#controller.abort(new TimeoutError(`no answer within ${lasting} ms`))
    }, lasting)
    this.#endsAt = performance.now() + lasting
    given?.addEventListener('abort', follow, { once: true })
    if (given?.aborted) follow()
    this.#release = () => {
      clearTimeout(timer)
      given?.removeEventListener('abort', follow)
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get remainingMilliseconds(): number {
    return this.#endsAt - performance.now()
  }

  /** The result of the work, unless the deadline comes first; the work itself goes on. */
  async during<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    let onAbort = () => {}
    const end = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    })
    try {
      return await Promise.race([end, work])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async sleep(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const pause = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    })
    try {
      await this.during(pause)
    } finally {
      clearTimeout(timer)
    }
  }

  release(): void {
    this.#release()
  }
}

/** Works until a deadline of its own. */
export const withDeadline = async <T>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> => {
  const deadline = new Deadline(milliseconds, signal)
  try {
    return await work(deadline)
  } finally {
    deadline.release()
  }
}
