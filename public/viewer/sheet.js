import { request } from '../web-url.js'

/** @type {Map<string, Promise<CSSStyleSheet>>} Sheets that are loaded or loading, by address. */
const sheets = new Map()

/**
 * Adds a style sheet to a shadow root, once. It is requested by script, because `style-src` does not apply to constructed
 * sheets. A page whose Content-Security-Policy allows scripts and requests of this server (`script-src`, `connect-src`)
 * therefore needs no permission for styles. A sheet that cannot be loaded is requested again for the next root.
 * @param {ShadowRoot} root
 * @param {URL} address
 * @returns {Promise<void>} resolves when the sheet applies or cannot be loaded
 */
export async function adoptSheet(root, { href }) {
  let loading = sheets.get(href)
  if (!loading) {
    loading = load(href)
    sheets.set(href, loading)
  }
  try {
    const sheet = await loading
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet)
  } catch {
    // Unless it is already being requested again.
    if (sheets.get(href) === loading) sheets.delete(href)
  }
}

/** @param {string} address */
async function load(address) {
  const response = await request(address)
  if (!response.ok) throw new Error(`${address}: status ${response.status}`)
  return new CSSStyleSheet().replace(await response.text())
}
