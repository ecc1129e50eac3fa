import './elements.js'
import { showPage } from './page.js'

showPage()
