import { MissingTile } from '../tiles/loader.js'
import { webURL } from '../web-url.js'
import { line } from './document.js'
import { RemoteFile } from './remote-file.js'
import { SourceError } from './source-error.js'
import { directoryEntries, entryContent, entryEnd, locateDirectory } from './zip-directory.js'

/**
 * Opens an SZI archive on any server that supports Range requests. Its directory is read once, from the end of the file.
 * Tiles are read by their positions in the directory.
 * @param {URL} address
 * @param {AbortSignal} [signal]
 * @throws {SourceError} if the file is not an SZI archive or cannot be read
 */
export async function sziSource(address, signal) {
  const file = await RemoteFile.open(address, signal)
  let directory = locateDirectory(file.tail, file.size)
  if ('needed' in directory) {
    await file.extend(directory.needed, signal)
    directory = locateDirectory(file.tail, file.size)
  }
  const { offset, size, count } = directory
  const entries = directoryEntries(await file.read(offset, offset + size, signal), count, offset)
  const name = [...entries.keys()].find((each) => /^[^/]+\/[^/]+\.dzi$/.test(each))
  if (!name) throw new SourceError('not an SZI archive: there is no descriptor in it')
  const content = async (entry, abort) => entryContent(await file.read(entry.offset, entryEnd(entry), abort), entry)
  const { deepZoomSource } = await import('./deep-zoom.js')
  const descriptor = await (await content(entries.get(name), signal)).text()
  const source = await deepZoomSource(descriptor, webURL(encodeURIComponent(name), address), false)
  const folder = name.replace(/\.dzi$/, '_files')
  const title = line(name.split('/')[0])
  const format = source.format === 'jpeg' ? 'jpg' : source.format
  return {
    ...source, title, details: { ...source.details, id: title, title, format }, address,
    /** Reads a tile from the archive; used instead of a URL. */
    tileBlob: (level, column, row, abort) => {
      const entry = entries.get(`${folder}/${level}/${column}_${row}.${source.format}`)
      if (!entry) throw new MissingTile(`no tile ${level}/${column}_${row} in the archive`)
      return content(entry, abort)
    },
  }
}
