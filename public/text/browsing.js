import { english } from './english.js'
import { translator } from './language.js'

/** What the gallery says. */
export const browsing = translator('browsing', english.browsing)
