import { readFileSync } from 'node:fs'

/**
 * Loaded before a program by `node --import`: its clock is off by as many milliseconds as the file of CLOCK_OFFSET_FILE says at
 * that moment. What measures time, as timers do, is not.
 */
const Clock = Date
const file = process.env.CLOCK_OFFSET_FILE ?? ''
const now = () => Clock.now() + Number(readFileSync(file, 'utf8'))

globalThis.Date = new Proxy(Clock, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})
