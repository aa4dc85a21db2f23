import type { Duplex } from 'node:stream'
import pg from 'pg'
import { Parser } from 'pg-protocol/dist/parser.js'
import { connectionOf } from './undeclared.ts'

/** What `pg` and its parser have and do not declare. */
type Message = { name: string; length?: number; fields?: (Buffer | null)[]; fieldCount?: number }
type OpenParser = {
  parse(bytes: Buffer, callback: (message: Message) => void): void
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message
}
type OpenConnection = pg.Connection & { attachListeners: (stream: Duplex) => void }

const dataRow = 'D'.charCodeAt(0)

/** Leaves the values of rows as bytes, which are good as long as the message is handled. */
class ByteParser extends (Parser as unknown as new () => OpenParser) {
  // what it declares private is there
  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    if (code !== dataRow) return super.handlePacket(offset, code, length, bytes)
    const fieldCount = bytes.readInt16BE(offset)
    const fields: (Buffer | null)[] = []
    for (let place = offset + 2; fields.length < fieldCount; ) {
      const size = bytes.readInt32BE(place)
      const start = place + 4
      place = start + Math.max(0, size)
      fields.push(size < 0 ? null : bytes.subarray(start, place))
    }
    return { name: 'dataRow', length, fields, fieldCount }
  }
}

/**
 * Has a client read rows as bytes: most of what is read is JSON that is sent as it is, and to make a text of it and bytes
 * again costs more than all the rest: 80 µs instead of 4 for a page of 50. `pg` decodes every value before anybody is asked.
 */
export const readRowsAsBytes = (client: pg.Client): void => {
  const connection = connectionOf(client) as OpenConnection // it is one
  connection.attachListeners = (stream) => {
    const parser = new ByteParser()
    stream.on('data', (bytes: Buffer) =>
      parser.parse(bytes, (message) =>
        connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message),
      ),
    )
  }
}

/** The same types as everywhere, from bytes. */
export const fromBytes: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') => {
    const parse = pg.types.getTypeParser(type, format)
    return (value: Buffer | string) => parse(String(value))
  },
}

/** Of bytes that are good only until the next message comes. Where it is kept, it is copied once more, on its own. */
export const copyOf = (bytes: Buffer): Buffer => Buffer.from(bytes)

const room = 128

/** The same with room at both ends for what is put around it. */
export const copyWithRoom = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(room + bytes.length + room)
  bytes.copy(copy, room)
  return copy.subarray(room, room + bytes.length)
}

/** In the room that a copy has: to copy a page once more would cost as much as to read it. */
export const enclose = (before: string, bytes: Buffer | null, after: string): Buffer => {
  const hasRoom = bytes?.byteOffset === room && bytes.buffer.byteLength === room + bytes.length + room
  if (!hasRoom || before.length > room || after.length > room)
    return Buffer.concat([Buffer.from(before), bytes ?? Buffer.alloc(0), Buffer.from(after)])
  const whole = Buffer.from(bytes.buffer, room - before.length, before.length + bytes.length + after.length)
  whole.write(before, 0, 'latin1')
  whole.write(after, before.length + bytes.length, 'latin1')
  return whole
}
