import { make } from '../viewer/element.js'

/** @type {WeakMap<ShadowRoot, Promise<void>>} */
const dressed = new WeakMap()

/**
 * Gives a viewer's shadow root what menus, dialogs and the cropper look like, once.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} fulfilled once the sheet counts, or cannot be had
 */
export function styledMenus(root) {
  const known = dressed.get(root)
  if (known) return known
  const sheet = make('link', { rel: 'stylesheet', href: new URL('./menus.css', import.meta.url) })
  root.append(sheet)
  const done = new Promise((resolve) => { sheet.onload = sheet.onerror = () => resolve() })
  dressed.set(root, done)
  return done
}
