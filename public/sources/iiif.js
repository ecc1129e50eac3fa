import { Pyramid } from '../geometry/pyramid.js'
import { isShown } from './formats.js'

/** Scale factors are powers of two, so the tiles are those of a pyramid; its formats have been tried. */
export function iiifSource(info) {
  const base = String(info.id ?? info['@id'] ?? '').replace(/\/$/, '')
  const isThree = info.type === 'ImageService3'
  const { width, height } = info
  if (!base || !(width >= 1 && height >= 1)) throw new Error('the server described no image')
  const tileSize = info.tiles?.[0]?.width ?? 512
  const pyramid = new Pyramid({ width, height }, tileSize)
  const format = info.preferredFormats?.find(isShown) ?? 'jpg'
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
    title: decodeURIComponent(base.split('/').pop()),
    details: { id: base, width, height, urls: { [isThree ? 'iiif3' : 'iiif2']: `${base}/info.json` } },
  }
}
