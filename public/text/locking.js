import { english } from './english.js'
import { sayer } from './language.js'

/** What is said of private spaces: their lock, their password. */
export const locking = sayer('locking', english.locking)
