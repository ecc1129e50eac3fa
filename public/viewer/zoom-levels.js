import { fitScale } from '../geometry/fit.js'

const FITS = ['contain', 'width', 'none']

/**
 * Whether an image is so long and narrow that it is shown from its start, instead of as a whole.
 * @param {{ width: number, height: number }} image
 * @param {{ width: number, height: number }} window CSS pixels
 */
export function isPanorama(image, window) {
  const contain = fitScale('contain', image, window)
  return contain < 1 / 4 && fitScale('cover', image, window) > 4 * contain
}

/**
 * Returns the distinct scales between which the zoom button switches: the whole image, its width, its original size.
 * @param {import('./camera.js').Camera} camera
 */
export function zoomLevels(camera) {
  const { limits } = camera
  const states = []
  for (const fit of FITS) {
    const scale = camera.scaleOf(fit)
    const isNew = states.every((state) => Math.abs(state.scale / scale - 1) > 1e-3)
    if (isNew && scale > limits.minimum * 0.999 && scale < limits.maximum * 1.001) states.push({ fit, scale })
  }
  return states
}

/**
 * Returns the fit after the current one.
 * @param {import('./camera.js').Camera} camera
 * @returns {string} a parameter of `fit`
 */
export function nextZoomLevel(camera) {
  const states = zoomLevels(camera)
  const at = states.findIndex(({ fit }) => fit === camera.fitMode)
  return states[(at + 1) % states.length].fit
}
