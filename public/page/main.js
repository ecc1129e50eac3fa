import { loadTranslations } from '../i18n/translator.js'
import { defineElement } from '../viewer/dom.js'
import { ZigguratViewer } from '../viewer/ziggurat-viewer.js'
import { showPage } from './page.js'

defineElement('ziggurat-viewer', ZigguratViewer)
// English needs no translations. Others were requested together with this script.
loadTranslations().then(showPage)
