import { make } from '../viewer/element.js'
import { contextOf } from './level-canvas.js'

/**
 * What is seen, as a picture.
 * @param {HTMLCanvasElement} canvas where the picture is drawn; hidden while a moving one is shown instead
 * @param {{ paint(context: CanvasRenderingContext2D, ratio: number): void } | null} animation
 * @param {number} ratio device pixels a CSS pixel
 * @param {string} type of the file: `image/png`, `image/jpeg`, `image/webp`
 * @returns {Promise<Blob>} of as many pixels as the canvas has
 */
export function snapshot(canvas, animation, ratio, type) {
  let drawn = canvas
  if (canvas.hidden && animation) {
    const { width, height } = canvas
    drawn = make('canvas', { width, height })
    animation.paint(contextOf(drawn), ratio)
  }
  return new Promise((resolve, reject) => drawn.toBlob(
    (blob) => blob ? resolve(blob) : reject(new Error(`the view cannot be written as ${type}`)), type, 0.92))
}
