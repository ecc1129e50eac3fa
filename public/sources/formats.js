import { SourceError } from './source-error.js'

/** Formats without universal browser support, each with a sample of one pixel. */
const SAMPLES = { jxl: '/woAEBAJCAIBADQASxLFgoUkkicY/gBMAg==' }
const support = new Map()

/** Tests whether the browser supports those of the formats that are not supported universally. */
export async function tryFormats(formats) {
  const untested = new Set(formats.filter((format) => typeof format === 'string' && Object.hasOwn(SAMPLES, format) && !support.has(format)))
  await Promise.all([...untested].map(async (format) => {
    const bytes = Uint8Array.from(atob(SAMPLES[format]), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes])).catch(() => null)
    support.set(format, bitmap !== null)
    bitmap?.close()
  }))
}

/** Whether the browser supports a format, as far as it was tested. */
export function canDecode(format) { return !Object.hasOwn(SAMPLES, format) || support.get(format) === true }

/**
 * Returns the error for images in a format that the browser does not support, if the server cannot convert them.
 * @param {string} format
 */
export function unsupportedFormat(format) { return new SourceError(`this browser does not show ${format}`, { format }) }

/**
 * Returns the format in which to request tiles that are stored in the given one: JPEG if the browser does not support it.
 */
export function requestedFormat(format) { return canDecode(format) ? format : 'jpg' }
