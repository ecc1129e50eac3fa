import { english } from './english.js'
import { translator } from './translator.js'

/** The messages for users with write access: uploads, edits, the trash. */
export const writing = translator('writing', english.writing)
