import { ZigguratZoom } from '../zoom/ziggurat-zoom.js'
import { ZigguratViewer } from './ziggurat-viewer.js'

for (const [name, element] of [['ziggurat-viewer', ZigguratViewer], ['ziggurat-zoom', ZigguratZoom]]) {
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, element)
}
