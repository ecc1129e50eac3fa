import { cropAddress, cropService } from '../crop/crop-rect.js'
import { menusTranslator } from '../i18n/menus.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { fetchJSON, object, positive } from '../sources/document.js'
import { visibleRegion } from '../viewer/descriptions.js'
import { showDialog } from '../viewer/dialog.js'
import { createElement } from '../viewer/dom.js'
import { webURL } from '../web-url.js'
import { formatBytes } from './details.js'
import { saveView } from './share.js'

/** Maximum number of pixels of an image that is saved without loss if its tiles are lossless. */
const LOSSLESS = 12e6

/**
 * Returns the size in which an IIIF service delivers a region at full resolution, within its limits.
 * @param {{ maxArea?: number, maxWidth?: number, maxHeight?: number }} info the service's info.json
 * @param {{ width: number, height: number }} part the region, in image pixels
 * @returns {{ width: number, height: number }} pixels
 */
export function servedSize(info, { width, height }) {
  const maxArea = positive(info.maxArea) ?? Infinity
  const maxWidth = positive(info.maxWidth) ?? Infinity
  const maxHeight = positive(info.maxHeight) ?? maxWidth
  const scale = Math.min(1, Math.sqrt(maxArea / (width * height)), maxWidth / width, maxHeight / height)
  if (scale === 1) return { width, height }
  return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) }
}

/**
 * Returns the address for saving a file.
 * @param {string} address
 * @param {{ address?: URL }} source the sources of Ziggurat servers have an address; these servers name files after their
 *   images
 */
export function fileAddress(address, source) {
  const url = webURL(address, source.address)
  if (source.address) url.search += `${url.search ? '&' : '?'}download`
  return url.href
}

/**
 * Shows a list of the files that can be saved, with their sizes.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 */
export function showDownloads(viewer) {
  const { source, viewport, shadowRoot } = viewer
  const t = menusTranslator(viewer)
  const { title, details } = source
  const image = source.pyramid.imageSize
  const list = createElement('div', { className: 'lines' })
  const dialog = showDialog(shadowRoot, t('download'), [list])
  const line = (name, fact, properties) => {
    const factLabel = createElement('span', { className: 'fact', textContent: fact })
    list.append(createElement(properties.href ? 'a' : 'button', { className: 'line', ...properties }, name, factLabel))
    return factLabel
  }
  const downloadBegan = () => {
    dialog.close()
    viewer.showMessage(t('downloadBegins'))
  }
  const fileFacts = (width, height, extension) => t('fileFacts', { width, height, kind: extension.toUpperCase() })
  const file = (name, fact, address, extension) => line(name, fact, {
    href: fileAddress(address, source), download: `${title || viewerTranslator(viewer)('viewer')}.${extension}`, onclick: downloadBegan,
  })
  const service = cropService(source)
  if (service) {
    const serviceURL = webURL(service, source.address).href
    const isLossless = details.format === 'png' && image.width * image.height <= LOSSLESS
    const extension = isLossless ? 'png' : 'jpg'
    const parts = [{ name: t('wholePicture'), frame: { x: 0, y: 0, ...image }, rotation: { degrees: 0, isFlipped: false } }]
    const [x, y, right, bottom] = visibleRegion(source, viewport)
    const frame = { x, y, width: right - x, height: bottom - y }
    const isPart = frame.width < image.width || frame.height < image.height
    if (isPart && frame.width > 0 && frame.height > 0 && viewport.rotation.degrees % 90 === 0) {
      parts.push({ name: t('thisPart'), frame, rotation: viewport.rotation })
    }
    const formatFact = ({ width, height }, { degrees }) =>
      degrees % 180 === 0 ? fileFacts(width, height, extension) : fileFacts(height, width, extension)
    const facts = parts.map(({ name, frame: part, rotation }) =>
      file(name, formatFact(part, rotation), cropAddress(serviceURL, part, image, rotation, extension), extension))
    // The server limits the size of large regions; the list then shows the reduced size.
    fetchJSON(serviceURL).then((info) => parts.forEach(({ frame: part, rotation }, index) => {
      facts[index].textContent = formatFact(servedSize(object(info), part), rotation)
    })).catch(() => {})
  }
  const { original, animation } = details
  if (original) {
    const extension = original.type.split('/')[1].replace('jpeg', 'jpg')
    file(t('originalFile'), `${extension.toUpperCase()}, ${formatBytes(original.bytes, t)}`, original.url, extension)
  }
  if (animation) {
    const extension = animation.type.split('/')[1]
    file(t('movingPicture'), extension.toUpperCase(), animation.url, extension)
  }
  const { width, height } = shadowRoot.querySelector('.picture')
  line(t('thisView'), fileFacts(width, height, 'png'), {
    type: 'button',
    onclick: () => {
      dialog.close()
      saveView(viewer)
    },
  })
  list.firstElementChild.focus({ preventScroll: true })
}
