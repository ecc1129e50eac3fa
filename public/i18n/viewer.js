import { english } from './english.js'
import { translator } from './translator.js'

/** The messages that the viewer and its bar need immediately, including errors. */
export const viewerTranslator = translator('viewer', english.viewer)
