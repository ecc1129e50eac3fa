import { english } from './english.js'
import { createTranslator } from './translator.js'

/** The messages that the viewer and its bar need immediately, including errors. */
export const viewerTranslator = createTranslator('viewer', english.viewer)
