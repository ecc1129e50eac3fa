import { english } from './english.js'
import { translator } from './language.js'

/** What is said to who may write: uploads, edits, the trash. */
export const writing = translator('writing', english.writing)
