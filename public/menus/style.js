import { requestSheet } from '../viewer/sheet.js'

/** @type {Promise<CSSStyleSheet> | undefined} */
let sheet

/**
 * Gives a viewer's shadow root the style sheet of menus, dialogs and the cropper, once.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} fulfilled when the sheet applies, or cannot be loaded
 */
export async function styledMenus(root) {
  sheet ??= requestSheet(new URL('./menus.css', import.meta.url))
  const loaded = await sheet
  if (!root.adoptedStyleSheets.includes(loaded)) root.adoptedStyleSheets.push(loaded)
}
