// @ts-check
import { text } from '../text/english.js'
import { icon } from './icons.js'
import { linkHash, linkedViewport } from './link.js'

/** @typedef {import('./ziggurat-viewer.js').ZigguratViewer} ZigguratViewer */

/** The id in `/view/{id}`; raw slashes and percent-encoded ones are the same id. @param {string} path */
export function pathId(path) {
  const rest = path.replace(/^.*?\/view\//, '').replace(/\/$/, '')
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}

/**
 * The page of one image: its title, and a link that always says what is seen.
 * @param {Document} document @param {Location} location
 */
export function showPage(document, location) {
  const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
  const viewer = /** @type {ZigguratViewer} */ (find('viewer'))
  const back = find('back')
  back.append(icon('back'))
  back.setAttribute('aria-label', text.back)
  back.title = text.back
  const id = pathId(location.pathname)
  find('title').textContent = document.title = id.split('/').pop() ?? id

  const follow = () => {
    const { viewport } = viewer
    const linked = viewport && linkedViewport(location.hash, viewport)
    if (linked) viewer.viewport = linked
  }
  viewer.addEventListener('open', () => {
    const { title, pyramid } = /** @type {import('../sources/source.js').Source} */ (viewer.source)
    find('title').textContent = document.title = title
    find('facts').textContent = text.pixels(pyramid.imageSize.width, pyramid.imageSize.height)
    follow()
  })
  viewer.addEventListener('settle', () => {
    if (!viewer.viewport) return
    const hash = linkHash(viewer.viewport)
    if (hash !== location.hash) history.replaceState(history.state, '', hash)
  })
  viewer.addEventListener('chrome', () => document.body.toggleAttribute('data-quiet', viewer.hasAttribute('quiet')))
  addEventListener('hashchange', follow)
  document.addEventListener('keydown', (event) => {
    if (event.target === document.body) viewer.dispatchEvent(new KeyboardEvent('keydown', event))
  })
  viewer.src = `/api/images/${encodeURIComponent(id)}`
}
