import { ZigguratZoom } from '../zoom/ziggurat-zoom.js'
import { defineElement } from './dom.js'
import { ZigguratViewer } from './ziggurat-viewer.js'

export { ZigguratViewer, ZigguratZoom }

defineElement('ziggurat-viewer', ZigguratViewer)
defineElement('ziggurat-zoom', ZigguratZoom)
