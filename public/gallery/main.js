import { registerWorker } from '../offline/register-worker.js'
import { loadTranslations } from '../text/language.js'
import { Gallery } from './page.js'
import { session, takeToken } from './session.js'

start()

// Pasted into an open page, an address with a token loads nothing.
addEventListener('hashchange', async () => {
  if (!location.hash.startsWith('#token=')) return
  if (await takeToken()) location.reload()
  else sayItIsOver()
})

// No await of the module's own: what it imports when it is needed imports what it has already, and would wait for it.
async function start() {
  // In English nothing has to come first; other words were asked for with this script.
  const [isWelcome] = await Promise.all([takeToken(), loadTranslations()])
  const gallery = new Gallery()
  const { grid } = gallery
  const reload = () => gallery.reload()
  const rights = await session()
  const { acceptsPassword, hasSpace, canWrite, canWriteSpace } = rights
  const header = document.querySelector('header')
  if (acceptsPassword || hasSpace) (await import('./lock.js')).showLock(header)
  if (canWrite || canWriteSpace) {
    const [{ showUploads }, { Selection }, { trashButton }] = await Promise.all([
      import('./upload.js'), import('../editing/selection.js'), import('../editing/trash-page.js')])
    showUploads(header, reload, rights)
    new Selection(grid, header, reload, rights)
    gallery.shelf.add(trashButton(reload))
    gallery.tell()
  }
  if (!isWelcome) sayItIsOver()
  registerWorker()
}

async function sayItIsOver() {
  const [{ toast }, { writing }] = await Promise.all([import('../editing/toast.js'), import('../text/writing.js')])
  toast(writing()('linkIsOver'))
}
