import { crc32, deflateRawSync } from 'node:zlib'

/** A file of an archive: its bytes packed, and how many they are unpacked. */
export type PackedFile = { packed: Buffer; size: number; checksum: number }

export const packed = (content: string | Uint8Array): PackedFile => {
  const bytes = Buffer.from(content)
  return { packed: deflateRawSync(bytes), size: bytes.length, checksum: crc32(bytes) }
}

/** The first day that an archive can name, as the time of a file is not told. */
const firstDay = 0x21

/** A ZIP archive as APPNOTE.TXT of PKWARE describes it. */
export const zipFile = (files: Readonly<Record<string, string | Uint8Array | PackedFile>>): Buffer => {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, given] of Object.entries(files)) {
    const {
      packed: data,
      size,
      checksum,
    } = typeof given === 'string' || given instanceof Uint8Array ? packed(given) : given
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt16LE(firstDay, 8)
    common.writeUInt32LE(checksum, 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(size, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const more = Buffer.alloc(14)
    more.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, more, Buffer.from(name)]))
    parts.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Object.keys(files).length, 4)
  end.writeUInt16LE(Object.keys(files).length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, central, Buffer.from('PK\x05\x06'), end])
}
