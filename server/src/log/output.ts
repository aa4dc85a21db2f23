import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { codeOf } from '../error-message.ts'

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
  /** The reader has gone, or the disk is full; the service continues. */
  #isBroken = false
  #attemptedAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor() {
    process.once('exit', () => this.#flushAtExit())
  }

  write(text: string): void {
    const line = Buffer.from(text)
    const isFlowing = this.#waiting.length === 0 && this.#unreportedDrops === 0
    if (isFlowing && this.#attempt(line)) return
    if (!isFlowing) this.#wait(line)
    if (performance.now() - this.#attemptedAt >= leastMillisecondsBetweenAttempts) this.#flush()
    else this.#flushLater()
  }

  /** Returns false when the lines were not written whole; the rest waits. */
  #attempt(lines: Buffer): boolean {
    this.#attemptedAt = performance.now()
    let written = 0
    try {
      written = writeSync(this.#fd, lines)
      this.#isBroken = false
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') {
        this.#isBroken = true
        this.#drop(lines)
        return false
      }
    }
    if (written === lines.length) return true
    this.#waiting.unshift(lines.subarray(written))
    this.#waitingBytes += lines.length - written
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

  #drop(lines: Buffer): void {
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
    // The next line of the service tries again. The line that reports the dropped ones would only be dropped as well.
    if (dropped === 0 || this.#isBroken) return
    this.#unreportedDrops = 0
    this.onResume?.(dropped)
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
