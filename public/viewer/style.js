import { adoptSheet } from './sheet.js'

/**
 * Adds the viewer's style sheet to a shadow root.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} resolves when the sheet applies or cannot be loaded; until then, nothing has its position or size
 */
export function loadStyles(root) { return adoptSheet(root, new URL('./viewer.css', import.meta.url)) }
