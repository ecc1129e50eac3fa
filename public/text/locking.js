import { english } from './english.js'
import { translator } from './language.js'

/** What is said of private spaces: their lock, their password. */
export const locking = translator('locking', english.locking)
