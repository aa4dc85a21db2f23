import { constants, fstatSync, openSync, writeSync } from 'node:fs'

/** Some thousand lines, in each thread. */
const mostWaitingBytes = 1_048_576
/** Linux writes up to this size to a pipe whole or not at all, so that the lines of several threads do not mix. */
const atomicBytes = 4_096
const retryMilliseconds = 10
const leastMillisecondsBetweenAttempts = 1
const exitTimeoutMilliseconds = 500

/**
 * Writes lines to standard error without ever blocking: when the pipe is full lines wait, and beyond a limit they are
 * dropped and counted. Files and terminals accept every line.
 */
export class LogOutput {
  dropped = 0
  /** Called with the number of dropped lines once lines can be written again. */
  onResume: ((dropped: number) => void) | null = null
  readonly #fd = openStandardError()
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #unreportedDrops = 0
  #attemptedAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor() {
    process.once('exit', () => this.#flushAtExit())
  }

  write(line: string): void {
    const isFlowing = this.#waiting.length === 0 && this.#unreportedDrops === 0
    if (isFlowing && this.#attempt(line)) return
    if (!isFlowing) this.#wait(Buffer.from(line))
    if (performance.now() - this.#attemptedAt >= leastMillisecondsBetweenAttempts) this.#flush()
    else this.#flushLater()
  }

  /** Returns false when the text was not written whole; the rest waits. */
  #attempt(text: string | Buffer): boolean {
    this.#attemptedAt = performance.now()
    let written = 0
    try {
      written = typeof text === 'string' ? writeSync(this.#fd, text) : writeSync(this.#fd, text)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) {
        // The reader may have gone, or the disk may be full; the service continues.
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
    this.#unreportedDrops += count
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#flush()
    }, retryMilliseconds).unref()
  }

  #flush(): void {
    while (this.#waiting.length > 0) {
      if (this.#attempt(this.#takeLines())) continue
      this.#flushLater()
      return
    }
    const dropped = this.#unreportedDrops
    this.#unreportedDrops = 0
    if (dropped > 0) this.onResume?.(dropped)
  }

  /** Takes as many lines as are written atomically, but at least one. */
  #takeLines(): Buffer {
    let count = 0
    let bytes = 0
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > atomicBytes) break
      bytes += length
      count++
    }
    this.#waitingBytes -= bytes
    return Buffer.concat(this.#waiting.splice(0, count))
  }

  #flushAtExit(): void {
    for (const deadline = performance.now() + exitTimeoutMilliseconds; performance.now() < deadline; ) {
      this.#flush()
      if (this.#waiting.length === 0) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMilliseconds)
    }
  }
}

/** A pipe is opened again, because an inherited one shares its blocking mode with npm, which changes it when it exits. */
const openStandardError = (): number => {
  try {
    if (fstatSync(2).isFIFO()) return openSync('/dev/stderr', constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    // It is closed, or belongs to another user.
  }
  return 2
}
