import { fitScale } from '../geometry/fit.js'
import { Camera } from '../viewer/camera.js'
import { createElement } from '../viewer/dom.js'

/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle in CSS pixels of the window */

const TIMING = { duration: 150, easing: 'cubic-bezier(.2, .7, .2, 1)', fill: 'forwards' }

/**
 * Paints the content of a thumbnail on a canvas: at the size of its pixels, or in device pixels if it consists of several
 * tiles.
 * @param {HTMLElement | null} frame the element that contains the tiles of the thumbnail
 * @returns {HTMLCanvasElement | null} null if none of them is loaded yet
 */
function thumbnailSnapshot(frame) {
  const tiles = [...frame?.querySelectorAll('img') ?? []].filter((img) => img.complete && img.naturalWidth > 0)
  if (tiles.length === 0) return null
  const canvas = createElement('canvas', {})
  const [{ naturalWidth, naturalHeight }] = tiles
  const one = tiles.length === 1
  Object.assign(canvas, one ? { width: naturalWidth, height: naturalHeight }
    : { width: frame.offsetWidth * devicePixelRatio, height: frame.offsetHeight * devicePixelRatio })
  const context = canvas.getContext('2d')
  for (const img of tiles) {
    const sides = [img.offsetLeft, img.offsetTop, img.offsetWidth, img.offsetHeight]
    context.drawImage(img, ...one ? [0, 0] : sides.map((side) => side * devicePixelRatio))
  }
  return canvas
}

/**
 * Animates a thumbnail to the position of the image in the viewer, and keeps it there until the viewer has drawn.
 * @param {HTMLElement} box the page; it has the class `growing` meanwhile
 * @param {HTMLElement} frame the frame of the thumbnail
 * @param {Size} image in image pixels
 */
export async function zoomIn(box, frame, image) {
  const viewer = box.querySelector('#viewer')
  const canvas = thumbnailSnapshot(frame)
  const drawn = whenDrawn(viewer)
  const { viewport } = new Camera(image, sizeOf(viewer))
  await runTransition(box, 'growing', canvas, frame, image, (thumbnail) => [thumbnail, { picture: imageRect(viewport, image) }])
  await drawn
  canvas?.remove()
}

/**
 * Animates the image from its position in the viewer to its thumbnail, or fades it if there is none.
 * @param {HTMLElement} box the page; it has the class `shrinking` meanwhile
 * @param {HTMLElement | null} frame the frame of the thumbnail
 * @param {Size} image in image pixels
 */
export async function zoomOut(box, frame, image) {
  const viewer = box.querySelector('#viewer')
  const { viewport } = viewer
  const isUpright = viewport && viewport.rotation.isIdentity
  const canvas = isUpright ? thumbnailSnapshot(frame) : null
  const from = canvas && applyDrag(viewer, imageRect(viewport, image))
  await runTransition(box, 'shrinking', canvas, frame, image, (thumbnail) => [{ picture: from }, thumbnail])
}

function sizeOf({ clientWidth: width, clientHeight: height }) { return { width, height } }

/**
 * Returns the position of the whole image in a viewport, in CSS pixels.
 * @returns {Rectangle}
 */
function imageRect(viewport, { width, height }) {
  const { x, y } = viewport.viewportPoint({ x: 0, y: 0 })
  return { x, y, width: width * viewport.scale, height: height * viewport.scale }
}

/**
 * Applies the current drag of the viewer's content to a rectangle, in CSS pixels.
 * @returns {Rectangle}
 */
function applyDrag(viewer, { x, y, width, height }) {
  const track = viewer.shadowRoot.querySelector('.track').getBoundingClientRect()
  const scale = track.width / viewer.clientWidth || 1
  return { x: track.x + x * scale, y: track.y + y * scale, width: width * scale, height: height * scale }
}

/** Returns the rectangle of the whole image for a thumbnail, whose frame may crop two sides. */
function thumbnailRect(frame, image) {
  const seen = frame.getBoundingClientRect()
  const scale = fitScale('cover', image, seen)
  const [width, height] = [image.width * scale, image.height * scale]
  const [x, y] = [seen.x + (seen.width - width) / 2, seen.y + (seen.height - height) / 2]
  return { picture: { x, y, width, height }, seen, radius: parseFloat(getComputedStyle(frame).borderRadius) || 0 }
}

/**
 * Runs a transition.
 * @param {HTMLCanvasElement | null} canvas the moving picture, which fills the viewer with the image fitted into it; null to
 *   animate only the background
 */
async function runTransition(box, name, canvas, frame, image, way) {
  const viewer = box.querySelector('#viewer')
  if (canvas) {
    // Below the content of the viewer.
    canvas.className = 'preview'
    viewer.shadowRoot.querySelector('.track').append(canvas)
  }
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  const opacity = name === 'growing' ? [0, 1] : [1, 0]
  const steps = [box.animate({ opacity }, { ...TIMING, fill: 'none', pseudoElement: '::before' })]
  if (canvas) {
    const window = sizeOf(viewer)
    const scale = fitScale('contain', image, window)
    const [x, y] = [(window.width - image.width * scale) / 2, (window.height - image.height * scale) / 2]
    canvas.style.transformOrigin = '0 0'
    steps.push(canvas.animate(way(thumbnailRect(frame, image)).map(({ picture, seen, radius = 0 }) => {
      const growth = picture.width / (image.width * scale)
      const [left, top] = [picture.x - x * growth, picture.y - y * growth]
      const inset = seen ? [seen.y - top, left + window.width * growth - seen.x - seen.width,
        top + window.height * growth - seen.y - seen.height, seen.x - left] : [0, 0, 0, 0]
      const clip = inset.map((length) => `${length / growth}px`).join(' ')
      return { transform: `translate(${left}px, ${top}px) scale(${growth})`, clipPath: `inset(${clip} round ${radius / growth}px)` }
    }), TIMING))
    frame.classList.add('away')
  }
  box.classList.add(name)
  viewer.toggleAttribute('covered', true)
  // A pointer press ends the transition immediately.
  const stop = () => steps.forEach((step) => step.finish())
  viewer.addEventListener('pointerdown', stop, { once: true })
  await Promise.all(steps.map((step) => step.finished)).catch(() => {})
  viewer.removeEventListener('pointerdown', stop)
  if (name === 'growing') viewer.removeAttribute('covered')
  box.classList.remove(name)
  frame?.classList.remove('away')
}

/** Resolves when the viewer has drawn the image or reported an error. */
function whenDrawn(viewer) {
  return new Promise((done) => {
    viewer.addEventListener('open', () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true })
    viewer.addEventListener('error', done, { once: true })
  })
}
