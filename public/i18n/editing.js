import { english } from './english.js'
import { translator } from './translator.js'

/** The messages for users with write access: uploads, edits, the trash. */
export const editingTranslator = translator('editing', english.editing)
