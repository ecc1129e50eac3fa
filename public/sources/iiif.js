import { webURL } from '../web-url.js'
import { decodeSegment, line, list, object } from './document.js'
import { canDecode } from './formats.js'
import { describedPyramid } from './source-limits.js'
import { SourceError } from './source-error.js'
import { fileExtension } from './ziggurat.js'

/**
 * Returns the source that an info.json describes (IIIF Image API 2.1 and 3.0). Scale factors are assumed to be powers of
 * two, so the tiles form a pyramid. Support for its formats must have been tested.
 * @param {any} info
 * @param {URL} [address] the address of the info.json
 * @throws {SourceError}
 */
export function iiifSource(info, address) {
  const id = info.id ?? info['@id']
  if (typeof id !== 'string' || !id) throw new SourceError('the server described no image')
  const service = webURL(id, address)
  service.hash = ''
  const base = service.href.replace(/\/$/, '')
  const isThree = info.type === 'ImageService3'
  const { width, height } = info
  const tileSize = object(list(info.tiles)[0]).width ?? 512
  const pyramid = describedPyramid({ width, height }, tileSize)
  const format = fileExtension(list(info.preferredFormats).find((each) => typeof each === 'string' && canDecode(each)), 'jpg')
  return {
    pyramid,
    tileURL: (level, column, row) => {
      const factor = 2 ** pyramid.shift(level)
      const [x, y] = [column * tileSize * factor, row * tileSize * factor]
      const [w, h] = [Math.min(tileSize * factor, width - x), Math.min(tileSize * factor, height - y)]
      const isWhole = w === width && h === height
      const [sizeW, sizeH] = [Math.ceil(w / factor), Math.ceil(h / factor)]
      // Canonical forms, which servers cache (Image API 3.0 and 2.1, section 4.7).
      const size = isThree ? (isWhole && factor === 1 ? 'max' : `${sizeW},${sizeH}`)
        : (isWhole && factor === 1 ? 'full' : `${sizeW},`)
      return `${base}/${isWhole ? 'full' : `${x},${y},${w},${h}`}/${size}/0/default.${format}`
    },
    title: line(decodeSegment(base.split('/').pop() ?? '')),
    details: { id: base, width, height, urls: { [isThree ? 'iiif3' : 'iiif2']: `${base}/info.json` } },
  }
}
