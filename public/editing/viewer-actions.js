import { editingTranslator } from '../i18n/editing.js'
import { imageTitle } from '../sources/ziggurat.js'
import { removeFromAlbum } from './album-remove.js'
import { editImage } from './form.js'
import { deleteImages, offerUndo, saveFlashMessage } from './trash.js'

export { saveCopy } from './copying.js'

/**
 * Returns the actions on the open image for users with write access.
 * @param {import('../page/page.js').ImagePage} page
 * @returns {{ name: string, run(): void }[]} items of the viewer's menu
 */
export function editingActions(page) {
  const { viewer } = page
  const t = editingTranslator(viewer)
  const showError = ({ message }) => viewer.showMessage(message)
  const edit = () => {
    const { source } = viewer
    editImage(viewer.shadowRoot, source.details.id, (image) => {
      Object.assign(source.details, image, { caption: image.caption })
      source.title = imageTitle(source.details)
      viewer.dispatchEvent(new Event('open'))
      viewer.showMessage(t('saved'))
      page.imageChanged()
    }).catch(showError)
  }
  const remove = async () => {
    try {
      const { id } = viewer.source.details
      const result = await deleteImages([id])
      if (!result.ids.size) return viewer.showMessage(t('notDeleted', { count: 1 }))
      const restoreInAlbum = removeFromAlbum(page, id)
      if (!restoreInAlbum) {
        // The gallery offers the undo, because it is another document.
        saveFlashMessage(result)
        return location.replace(page.back.href)
      }
      offerUndo(result, 1, restoreInAlbum)
    } catch (error) { showError(error) }
  }
  return [{ name: t('edit'), run: edit }, { name: t('delete'), run: remove }]
}
