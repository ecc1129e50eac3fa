import { adoptSheet } from '../viewer/sheet.js'

/**
 * Gives a viewer's shadow root the style sheet of menus, dialogs and the cropper, once.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} resolves when the sheet applies or cannot be loaded
 */
export function loadMenuStyles(root) { return adoptSheet(root, new URL('./menus.css', import.meta.url)) }
