import { constants, fstatSync, openSync, writeSync } from 'node:fs'

/** What waits for a reader, in each thread: some thousand lines. */
const mostWaitingBytes = 1_048_576
/** What Linux writes to a pipe whole or not at all, so that the lines of several threads do not mix. */
const wholeBytes = 4_096
const pauseMilliseconds = 10
/** Between two attempts, however many lines come meanwhile. */
const leastPauseMilliseconds = 1
const longestFarewellMilliseconds = 500

/**
 * Standard error, for lines. A reader that stalls stops nobody: when the pipe is full lines wait, and beyond a limit they are
 * dropped and counted. Files and terminals take every line.
 */
export class LogOutput {
  /** Lines that could not be written. */
  dropped = 0
  /** Told how many were dropped, once others can be written again. */
  onFlow: ((dropped: number) => void) | null = null
  readonly #fd = openStandardError()
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #untold = 0
  #attemptedAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor() {
    process.once('exit', () => this.#takeLeave())
  }

  write(line: string): void {
    const isFlowing = this.#waiting.length === 0 && this.#untold === 0
    if (isFlowing && this.#attempt(line)) return
    if (!isFlowing) this.#wait(Buffer.from(line))
    if (performance.now() - this.#attemptedAt >= leastPauseMilliseconds) this.#flush()
    else this.#flushLater()
  }

  /** Whether it was written; what was not waits. */
  #attempt(text: string | Buffer): boolean {
    this.#attemptedAt = performance.now()
    let written = 0
    try {
      written = typeof text === 'string' ? writeSync(this.#fd, text) : writeSync(this.#fd, text)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) {
        // Who reads the log may go, and disks are full; the service stays.
        this.#drop(text)
        return false
      }
    }
    if (written === Buffer.byteLength(text)) return true
    this.#waiting.unshift(Buffer.from(text).subarray(written))
    this.#waitingBytes += Buffer.byteLength(text) - written
    return false
  }

  #wait(line: Buffer): void {
    if (this.#waitingBytes + line.length > mostWaitingBytes) {
      this.#drop(line)
    } else {
      this.#waiting.push(line)
      this.#waitingBytes += line.length
    }
  }

  #drop(lines: string | Buffer): void {
    const count = lines.toString().split('\n').length - 1
    this.dropped += count
    this.#untold += count
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#flush()
    }, pauseMilliseconds).unref()
  }

  #flush(): void {
    while (this.#waiting.length > 0) {
      if (this.#attempt(this.#takeLines())) continue
      this.#flushLater()
      return
    }
    const untold = this.#untold
    this.#untold = 0
    if (untold > 0) this.onFlow?.(untold)
  }

  /** As many as are written whole, at least one. */
  #takeLines(): Buffer {
    let count = 0
    let bytes = 0
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > wholeBytes) break
      bytes += length
      count++
    }
    this.#waitingBytes -= bytes
    return Buffer.concat(this.#waiting.splice(0, count))
  }

  #takeLeave(): void {
    for (const deadline = performance.now() + longestFarewellMilliseconds; performance.now() < deadline; ) {
      this.#flush()
      if (this.#waiting.length === 0) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMilliseconds)
    }
  }
}

/**
 * An inherited pipe shares its blocking mode with other processes, and npm changes it when it exits. So the pipe is opened
 * again. Sockets never block in Node.
 */
const openStandardError = (): number => {
  try {
    if (fstatSync(2).isFIFO()) return openSync('/dev/stderr', constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    // It is closed, or another user's.
  }
  return 2
}
