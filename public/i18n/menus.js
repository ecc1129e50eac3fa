import { english } from './english.js'
import { createTranslator } from './translator.js'

/** The messages of actions on an image: menu, details, keys, downloads, the cropper. */
export const menusTranslator = createTranslator('menus', english.menus)
