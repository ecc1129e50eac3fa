import { ZigguratZoom } from '../zoom/ziggurat-zoom.js'
import { define } from './element.js'
import { ZigguratViewer } from './ziggurat-viewer.js'

export { ZigguratViewer, ZigguratZoom }

define('ziggurat-viewer', ZigguratViewer)
define('ziggurat-zoom', ZigguratZoom)
