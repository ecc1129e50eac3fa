import { english } from './english.js'
import { translator } from './translator.js'

/** The messages of private spaces: their lock and password. */
export const spacesTranslator = translator('spaces', english.spaces)
