import { createElement } from '../viewer/dom.js'
import { contextOf } from './level-canvas.js'

/**
 * Writes the current view to an image file. The promise is rejected with an `Error` if the browser does not support the
 * type.
 * @param {HTMLCanvasElement} canvas the canvas of the image; hidden while an animation is shown instead
 * @param {{ paint(context: CanvasRenderingContext2D, ratio: number): void } | null} animation
 * @param {number} ratio device pixels per CSS pixel
 * @param {string} type the media type: `image/png`, `image/jpeg` or `image/webp`
 * @returns {Promise<Blob>} a file of the canvas's size in pixels
 */
export function snapshot(canvas, animation, ratio, type) {
  let source = canvas
  if (canvas.hidden && animation) {
    const { width, height } = canvas
    source = createElement('canvas', { width, height })
    animation.paint(contextOf(source), ratio)
  }
  return new Promise((resolve, reject) => source.toBlob(
    (blob) => blob ? resolve(blob) : reject(new Error(`the view cannot be written as ${type}`)), type, 0.92))
}
