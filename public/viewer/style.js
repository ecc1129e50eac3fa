import { requestSheet } from './sheet.js'

/** @type {Promise<CSSStyleSheet> | undefined} */
let sheet

/**
 * Gives a shadow root the viewer's style sheet.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} fulfilled when the sheet applies, or cannot be loaded; until then, nothing has its place or size
 */
export async function styled(root) {
  sheet ??= requestSheet(new URL('./viewer.css', import.meta.url))
  root.adoptedStyleSheets.push(await sheet)
}
