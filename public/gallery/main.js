import { loadTranslations } from '../i18n/translator.js'
import { registerWorker } from '../offline/register-service-worker.js'
import { Gallery } from './page.js'
import { session, takeToken } from './session.js'

start()

// Pasting an address with a token into an open page does not load the page.
addEventListener('hashchange', async () => {
  if (!location.hash.startsWith('#token=')) return
  if (await takeToken()) location.reload()
  else showExpiredLink()
})

// No top-level await: modules that are imported later import this one, and would wait for it.
async function start() {
  // English needs no translations. Others were requested together with this script.
  const [isAccepted] = await Promise.all([takeToken(), loadTranslations()])
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
    gallery.folderBar.add(trashButton(reload))
    gallery.updateEmptyState()
  }
  if (!isAccepted) showExpiredLink()
  registerWorker()
}

async function showExpiredLink() {
  const [{ toast }, { editingTranslator }] = await Promise.all([import('../editing/toast.js'), import('../i18n/editing.js')])
  toast(editingTranslator()('linkIsOver'))
}
