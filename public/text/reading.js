import { english } from './english.js'
import { sayer } from './language.js'

/** What pictures need at once: the viewer, its bar, what cannot be had. */
export const reading = sayer('reading', english.reading)
