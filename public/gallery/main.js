import { showGallery } from './page.js'
import { session, takeToken } from './session.js'

await takeToken()
const { grid, reload } = showGallery(document, location)
// What few visitors need is loaded for those alone.
const { password, space, writable } = await session()
const header = document.querySelector('header')
if (password || space) (await import('./lock.js')).showLock(header)
if (writable) {
  const [{ showUploads }, { Selection }] = await Promise.all([import('./upload.js'), import('../editing/selection.js')])
  showUploads(header, reload)
  new Selection(grid, header, reload)
}
