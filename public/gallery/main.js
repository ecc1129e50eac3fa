import { showGallery } from './page.js'
import { session, takeToken } from './session.js'

await takeToken()
showGallery(document, location)
// What few visitors need is loaded for those alone.
const { password, space } = await session()
if (password || space) (await import('./lock.js')).showLock(document.querySelector('header'))
