import { SourceError } from './source-error.js'

/** Formats that not every browser shows, each with a picture of one pixel in it. */
const SAMPLES = { jxl: '/woAEBAJCAIBADQASxLFgoUkkicY/gBMAg==' }
const shown = new Map()

/** Finds out which of the formats this browser shows, as far as that is in question. */
export async function tryFormats(formats) {
  const open = new Set(formats.filter((format) => typeof format === 'string' && Object.hasOwn(SAMPLES, format) && !shown.has(format)))
  await Promise.all([...open].map(async (format) => {
    const bytes = Uint8Array.from(atob(SAMPLES[format]), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes])).catch(() => null)
    shown.set(format, bitmap !== null)
    bitmap?.close()
  }))
}

/** Whether this browser shows the format, as far as it was tried. */
export function canDecode(format) { return !Object.hasOwn(SAMPLES, format) || shown.get(format) === true }

/**
 * What is thrown of pictures in a format that this browser does not show, by who knows that nobody makes another of it.
 * @param {string} format
 */
export function unsupportedFormat(format) { return new SourceError(`this browser does not show ${format}`, { format }) }

/** In which format tiles are asked for that are stored in this one: JPEG where the browser does not show it. */
export function requestedFormat(format) { return canDecode(format) ? format : 'jpg' }
