import '../viewer/elements.js'
import { showPage } from './page.js'

showPage()
