import { showGallery } from './page.js'
import { session, takeToken } from './session.js'

await takeToken()
const reload = showGallery(document, location)
// What few visitors need is loaded for those alone.
const { password, space, writable } = await session()
if (password || space) (await import('./lock.js')).showLock(document.querySelector('header'))
if (writable) (await import('./upload.js')).showUploads(document.querySelector('header'), reload)
