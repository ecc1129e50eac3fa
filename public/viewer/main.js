import { defineElements } from './define.js'
import { showPage } from './page.js'

defineElements()
showPage(document, location)
