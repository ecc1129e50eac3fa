import { loadTranslations } from '../text/language.js'
import { define } from '../viewer/element.js'
import { ZigguratViewer } from '../viewer/ziggurat-viewer.js'
import { showPage } from './page.js'

define('ziggurat-viewer', ZigguratViewer)
// In English nothing has to come first; other words were asked for with this script.
loadTranslations().then(showPage)
