import { english } from './english.js'
import { translator } from './translator.js'

/** The messages of the gallery. */
export const galleryTranslator = translator('gallery', english.gallery)
