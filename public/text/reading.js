import { english } from './english.js'
import { translator } from './language.js'

/** What pictures need at once: the viewer, its bar, what cannot be had. */
export const reading = translator('reading', english.reading)
