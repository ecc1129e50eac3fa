import { viewerTranslator } from '../i18n/viewer.js'
import { copyText } from '../viewer/dialog.js'
import { createElement } from '../viewer/dom.js'
import { encodeView } from '../viewer/view-hash.js'

/** Returns the page's address with the current view. */
export function viewAddress(viewer) {
  const url = new URL(location.href)
  if (viewer.viewport) url.hash = encodeView(viewer.viewport, viewer.source.pyramid.imageSize)
  return url.href
}

/** Whether the device can share addresses. */
export function canShare() { return Boolean(navigator.canShare?.({ url: location.href })) }

/** Shares an address by the device's dialog. */
export function share(title, url) {
  // Cancelling the dialog is not an error.
  navigator.share({ title, url }).catch(() => {})
}

/** Copies text and reports what was copied, or shows the text if copying is not allowed. */
export async function copy(viewer, heading, text, copied) {
  if (await copyText(viewer.shadowRoot, heading, text)) viewer.showMessage(copied)
}

/** Saves the current view as an image file of the canvas's size. */
export async function saveView(viewer) {
  const href = URL.createObjectURL(await viewer.snapshot())
  createElement('a', { href, download: `${viewer.source?.title || viewerTranslator(viewer)('viewer')}.png` }).click()
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
