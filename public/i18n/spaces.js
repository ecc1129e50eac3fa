import { english } from './english.js'
import { createTranslator } from './translator.js'

/** The messages of private spaces: their lock and password. */
export const spacesTranslator = createTranslator('spaces', english.spaces)
