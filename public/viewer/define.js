import { ZigguratZoom } from '../zoom/ziggurat-zoom.js'
import { ZigguratViewer } from './ziggurat-viewer.js'

/** Makes the elements known to the document; a second call does nothing. */
export function defineElements() {
  if (!customElements.get('ziggurat-viewer')) customElements.define('ziggurat-viewer', ZigguratViewer)
  if (!customElements.get('ziggurat-zoom')) customElements.define('ziggurat-zoom', ZigguratZoom)
}
