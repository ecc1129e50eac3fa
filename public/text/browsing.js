import { english } from './english.js'
import { sayer } from './language.js'

/** What the gallery says. */
export const browsing = sayer('browsing', english.browsing)
