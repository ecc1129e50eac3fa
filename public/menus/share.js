import { reading } from '../text/reading.js'
import { copyText } from '../viewer/dialog.js'
import { make } from '../viewer/element.js'
import { encodeView } from '../viewer/view-hash.js'

/** The page's address, with what is seen now. */
export function viewAddress(viewer) {
  const url = new URL(location.href)
  if (viewer.viewport) url.hash = encodeView(viewer.viewport, viewer.source.pyramid.imageSize)
  return url.href
}

/** Whether the device has its own way of handing addresses on. */
export function canShare() { return Boolean(navigator.canShare?.({ url: location.href })) }

/** Hands an address on by the device's own way. */
export function share(title, url) {
  // Who closes what opens has nothing to be told.
  navigator.share({ title, url }).catch(() => {})
}

/** Copies text and reports what was copied, or shows the text if copying is not allowed. */
export async function copy(viewer, heading, text, copied) {
  if (await copyText(viewer.shadowRoot, heading, text)) viewer.say(copied)
}

/** Saves what is seen, as many pixels as the screen shows of it. */
export async function saveView(viewer) {
  const href = URL.createObjectURL(await viewer.snapshot())
  make('a', { href, download: `${viewer.source?.title || reading(viewer)('viewer')}.png` }).click()
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
