import { english } from './english.js'
import { createTranslator } from './translator.js'

/** The messages of the gallery. */
export const galleryTranslator = createTranslator('gallery', english.gallery)
