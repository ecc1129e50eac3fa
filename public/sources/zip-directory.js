import { limitBytes } from './size-limit.js'
import { SourceError } from './source-error.js'

/** Signatures and sizes of the records of a ZIP file (APPNOTE.TXT 4.3). */
const END = { signature: 0x06054b50, size: 22 }
const LOCATOR = { signature: 0x07064b50, size: 20 }
const END_64 = { signature: 0x06064b50, size: 56 }
const ENTRY = { signature: 0x02014b50, size: 46 }
const LOCAL = { signature: 0x04034b50, size: 30 }
const ZIP64_MARKER = 0xffffffff
/** Maximum bytes of one tile, compressed or not: more than any tile has, but harmless. */
const MAX_ENTRY_SIZE = 64 << 20
/** Maximum bytes of a directory: two million tiles. */
const MAX_DIRECTORY_SIZE = 256 << 20
const MAX_ENTRIES = 2_000_000

/** An error for an archive with invalid content. */
export class DamagedArchive extends SourceError {}

/**
 * Locates the directory of an archive by the last bytes of its file.
 * @param {Uint8Array} tail the last bytes of the file: at least 98, plus a comment, if there is one
 * @param {number} fileSize bytes
 * @returns {{ offset: number, size: number, count: number } | { needed: number }} position and size in bytes, and number of
 *   entries; or the number of last bytes that are needed
 */
export function locateDirectory(tail, fileSize) {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength)
  const start = fileSize - tail.length
  for (let at = tail.length - END.size; at >= 0; at -= 1) {
    if (view.getUint32(at, true) !== END.signature || at + END.size + view.getUint16(at + 20, true) !== tail.length) continue
    const locator = at - LOCATOR.size
    if (locator < 0 && start > 0) return { needed: tail.length + LOCATOR.size + END_64.size }
    if (locator >= 0 && view.getUint32(locator, true) === LOCATOR.signature) {
      const wide = readUint64(view, locator + 8) - start
      if (wide < 0) return { needed: checkDirectorySize(fileSize - start - wide) }
      if (wide + END_64.size > tail.length || view.getUint32(wide, true) !== END_64.signature) break
      return { count: readUint64(view, wide + 32), size: checkDirectorySize(readUint64(view, wide + 40)), offset: readUint64(view, wide + 48) }
    }
    return { count: view.getUint16(at + 10, true), size: checkDirectorySize(view.getUint32(at + 12, true)), offset: view.getUint32(at + 16, true) }
  }
  throw new DamagedArchive('no ZIP directory at its end: not an archive, or cut short')
}

function checkDirectorySize(size) {
  if (size > MAX_DIRECTORY_SIZE) throw new DamagedArchive(`its ZIP directory would have ${size} bytes, and ${MAX_DIRECTORY_SIZE} are the most`)
  return size
}

/**
 * Returns the last possible end of an entry's bytes. Its local header may have a name and extra fields of 64 KB each.
 * @param {{ offset: number, end: number, size: number }} entry
 */
export function entryEnd({ offset, end, size }) {
  if (size > MAX_ENTRY_SIZE) throw new DamagedArchive(`an entry of ${size} bytes is no tile: ${MAX_ENTRY_SIZE} are the most`)
  return Math.min(end, offset + LOCAL.size + 2 * 0xffff + size)
}

/**
 * Parses the directory of an archive.
 * @param {Uint8Array} bytes the bytes of the directory
 * @param {number} count the number of entries
 * @param {number} offset the position of the directory in the file
 * @returns {Map<string, { offset: number, end: number, size: number, method: number }>} the entries by name: the positions
 *   of the local header and of the next record, the compressed size, and the compression method (0 stored, 8 deflated)
 */
export function directoryEntries(bytes, count, offset) {
  if (count > MAX_ENTRIES) throw new DamagedArchive(`its ZIP directory would have ${count} entries, and ${MAX_ENTRIES} are the most`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = new TextDecoder()
  const entries = new Map()
  for (let at = 0, number = 0; number < count; number += 1) {
    if (at + ENTRY.size > bytes.length || view.getUint32(at, true) !== ENTRY.signature) {
      throw new DamagedArchive(`entry ${number} of its ZIP directory is damaged`)
    }
    const name = at + ENTRY.size
    const extra = name + view.getUint16(at + 28, true)
    const extraEnd = extra + view.getUint16(at + 30, true)
    if (extraEnd > bytes.length) throw new DamagedArchive(`entry ${number} of its ZIP directory is cut short`)
    const entry = { size: view.getUint32(at + 20, true), offset: view.getUint32(at + 42, true), method: view.getUint16(at + 10, true) }
    readZIP64Fields(entry, view, view.getUint32(at + 24, true) === ZIP64_MARKER, extra, extraEnd)
    // Encrypted entries cannot be read.
    if ((view.getUint16(at + 8, true) & 1) === 0) entries.set(text.decode(bytes.subarray(name, extra)), entry)
    at = extraEnd + view.getUint16(at + 32, true)
  }
  const sorted = [...entries.values()].sort((a, b) => a.offset - b.offset)
  sorted.forEach((entry, index) => { entry.end = sorted[index + 1]?.offset ?? offset })
  return entries
}

/** Reads ZIP64 values: fields that do not fit into four bytes are in an extra field, in this order. */
function readZIP64Fields(entry, view, isPlainWide, start, end) {
  for (let at = start; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue
    let value = at + 4 + (isPlainWide ? 8 : 0)
    for (const name of ['size', 'offset']) {
      if (entry[name] !== ZIP64_MARKER) continue
      if (value + 8 > end) throw new DamagedArchive('its ZIP directory lacks a ZIP64 size')
      entry[name] = readUint64(view, value)
      value += 8
    }
  }
}

/**
 * Returns the content of an entry.
 * @param {Uint8Array} bytes the bytes of the file, from the entry's local header on
 * @param {{ size: number, method: number }} entry
 * @returns {Promise<Blob>}
 */
export async function entryContent(bytes, { size, method }) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < LOCAL.size || view.getUint32(0, true) !== LOCAL.signature) throw new DamagedArchive('an entry is damaged')
  const start = LOCAL.size + view.getUint16(26, true) + view.getUint16(28, true)
  if (start + size > bytes.length) throw new DamagedArchive('an entry is cut short')
  const packed = new Blob([bytes.subarray(start, start + size)])
  if (method === 0) return packed
  if (method !== 8) throw new DamagedArchive(`an entry is packed by method ${method}, which no browser unpacks`)
  const unpacked = packed.stream().pipeThrough(new DecompressionStream('deflate-raw')).pipeThrough(limitBytes(MAX_ENTRY_SIZE, 'an entry'))
  return new Response(unpacked).blob()
}

function readUint64(view, at) { return Number(view.getBigUint64(at, true)) }
