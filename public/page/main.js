import { define } from '../viewer/element.js'
import { ZigguratViewer } from '../viewer/ziggurat-viewer.js'
import { showPage } from './page.js'

define('ziggurat-viewer', ZigguratViewer)
showPage()
