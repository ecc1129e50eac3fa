import { english } from './english.js'
import { sayer } from './language.js'

/** What is said to who may write: uploads, edits, the trash. */
export const writing = sayer('writing', english.writing)
