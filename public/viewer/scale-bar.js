import { text } from '../text/english.js'

/** The bar's greatest length, CSS pixels. */
const LONGEST = 140

export function scaleBar(micronsPerPixel, scale) {
  const most = LONGEST * micronsPerPixel / scale
  const power = 10 ** Math.floor(Math.log10(most))
  const microns = power * (most / power >= 5 ? 5 : most / power >= 2 ? 2 : 1)
  return { length: microns * scale / micronsPerPixel, words: text.length(microns) }
}
