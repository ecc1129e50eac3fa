import { english } from './english.js'
import { translator } from './language.js'

/** The messages of the gallery. */
export const browsing = translator('browsing', english.browsing)
