import { showGallery } from './page.js'

showGallery(document, location)
