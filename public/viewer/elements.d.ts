import { ZigguratZoom } from '../zoom/ziggurat-zoom.js'
import { ZigguratViewer } from './ziggurat-viewer.js'

export { ZigguratViewer, ZigguratZoom }

declare global {
  interface HTMLElementTagNameMap {
    'ziggurat-viewer': ZigguratViewer
    'ziggurat-zoom': ZigguratZoom
  }
}
