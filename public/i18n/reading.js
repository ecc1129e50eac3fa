import { english } from './english.js'
import { translator } from './translator.js'

/** The messages that the viewer and its bar need immediately, including errors. */
export const reading = translator('reading', english.reading)
