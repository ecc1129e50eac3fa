import { request } from '../web-url.js'

/**
 * Requests a style sheet by script. A page that allows scripts and requests of this server by its Content-Security-Policy
 * (`script-src`, `connect-src`) needs no further permission for styles: `style-src` does not apply to constructed sheets.
 * @param {URL} address
 * @returns {Promise<CSSStyleSheet>} empty if the sheet cannot be loaded
 */
export async function requestSheet(address) {
  const sheet = new CSSStyleSheet()
  const response = await request(address).catch(() => null)
  if (response?.ok) sheet.replaceSync(await response.text())
  return sheet
}
