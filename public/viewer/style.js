import { make } from './element.js'

/**
 * Gives a shadow root the viewer's style sheet.
 * @param {ShadowRoot} root
 * @returns {Promise<void>} fulfilled once the sheet counts, or cannot be had: before, nothing has its place or size.
 */
export function styled(root) {
  const sheet = make('link', { rel: 'stylesheet', href: new URL('./viewer.css', import.meta.url) })
  root.append(sheet)
  return new Promise((done) => { sheet.onload = sheet.onerror = () => done() })
}
