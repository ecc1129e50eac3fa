// @ts-check
import { ZigguratViewer } from './ziggurat-viewer.js'

/** Makes the elements known to the document; a second call does nothing. */
export function defineElements() {
  if (!customElements.get('ziggurat-viewer')) customElements.define('ziggurat-viewer', ZigguratViewer)
}
