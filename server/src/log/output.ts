import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'

/** Some thousand lines, in each thread. */
const mostWaitingBytes = 1_048_576
const retryMilliseconds = 1
const exitTimeoutMilliseconds = 500

/**
 * Writes lines to standard error without ever blocking: when the pipe is full lines wait, and beyond a limit they are
 * dropped and counted. Files and terminals accept every line. Each line has a write of its own: Linux writes up to 4 KiB to
 * a pipe whole or not at all, so that the lines of several threads do not mix.
 */
export class LogOutput {
  dropped = 0
  /** Called with the number of dropped lines once lines can be written again. */
  onResume: ((dropped: number) => void) | null = null
  readonly #fd = openStandardError()
  readonly #lines = new Writable({ write: (line, _encoding, done) => this.#attempt(line, done) })
  #unreportedDrops = 0
  /** Null unless a line waits for the pipe. */
  #retry: (() => void) | null = null

  constructor() {
    process.once('exit', () => this.#flushAtExit())
  }

  write(line: string): void {
    if (this.#lines.writableLength + line.length > mostWaitingBytes) this.#drop()
    else this.#lines.write(line)
  }

  #attempt(line: Buffer, done: () => void): void {
    let written = 0
    try {
      written = writeSync(this.#fd, line)
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      // Otherwise the reader may have gone, or the disk may be full; the service continues.
      if (!isFull) {
        this.#drop()
        done()
        return
      }
    }
    if (written < line.length) {
      this.#retryLater(line.subarray(written), done)
      return
    }
    done()
    if (this.#lines.writableLength === 0) this.#reportDrops()
  }

  #retryLater(rest: Buffer, done: () => void): void {
    this.#retry = () => {
      this.#retry = null
      this.#attempt(rest, done)
    }
    setTimeout(() => this.#retry?.(), retryMilliseconds).unref()
  }

  #drop(): void {
    this.dropped++
    this.#unreportedDrops++
  }

  #reportDrops(): void {
    const dropped = this.#unreportedDrops
    this.#unreportedDrops = 0
    if (dropped > 0) this.onResume?.(dropped)
  }

  #flushAtExit(): void {
    for (const deadline = performance.now() + exitTimeoutMilliseconds; performance.now() < deadline; ) {
      if (!this.#retry) return
      this.#retry()
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
