import { english } from './english.js'
import { createTranslator } from './translator.js'

/** The messages for users with write access: uploads, edits, the trash. */
export const editingTranslator = createTranslator('editing', english.editing)
