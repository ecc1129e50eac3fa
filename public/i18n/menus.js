import { english } from './english.js'
import { translator } from './translator.js'

/** The messages of actions on an image: menu, details, keys, downloads, the cropper. */
export const menusTranslator = translator('menus', english.menus)
