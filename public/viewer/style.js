import { adoptSheet } from './sheet.js'

/**
 * Gives a shadow root the viewer's style sheet.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} fulfilled when the sheet applies, or cannot be loaded; until then, nothing has its place or size
 */
export function styled(root) { return adoptSheet(root, new URL('./viewer.css', import.meta.url)) }
