import { english } from './english.js'
import { translator } from './language.js'

/** What is said of what can be done with a picture: menu, details, keys, downloads, the cropper. */
export const doing = translator('doing', english.doing)
